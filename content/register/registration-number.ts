/** A number as a register writes it, and the org-id by which imports recognise the organisation. */
export type RegistrationNumber = {
  type: string;
  registration_number: string;
  org_id: string | null;
};

type Register = {
  scheme: string;
  type: string;
  /** Fits the number without spaces, hyphens, dots and slashes, in capitals, and gives what identifies. */
  fits: RegExp;
  written: (digits: string) => string;
};

const asItIs = (number: string) => number;

/** The registers that this directory imports, by country. Source: org-id.guide. */
const registers: Readonly<Record<string, readonly Register[]>> = {
  US: [
    {
      scheme: "US-EIN",
      type: "EIN",
      fits: /^(?:US)?(?:EIN)?(\d{9})$/,
      written: (digits) => `${digits.slice(0, 2)}-${digits.slice(2)}`,
    },
  ],
  GB: [
    {
      scheme: "GB-SC",
      type: "Charity number (Scotland)",
      fits: /^(?:GB)?(SC\d{6})$/,
      written: asItIs,
    },
    {
      scheme: "GB-NIC",
      type: "Charity number (Northern Ireland)",
      fits: /^(?:GB)?NIC?(\d{6})$/,
      written: asItIs,
    },
    {
      scheme: "GB-CHC",
      type: "Charity number (England and Wales)",
      fits: /^(?:GB)?(?:CHC)?(\d{5,8})$/,
      written: asItIs,
    },
  ],
  AU: [{ scheme: "AU-ABN", type: "ABN", fits: /^(?:AU)?(?:ABN)?(\d{11})$/, written: asItIs }],
};

/**
 * Reads the number that an organisation gives of itself: "53-0196605", "EIN 530196605" and "US-EIN-530196605" are one.
 * One of another register, or of no known shape, is kept as it was written, without an org-id; comparedNumber compares it.
 */
export function readRegistrationNumber(text: string, countryCode: string): RegistrationNumber {
  const compact = comparedNumber(text);
  for (const { scheme, type, fits, written } of registers[countryCode] ?? []) {
    const number = fits.exec(compact)?.[1];
    if (number !== undefined) {
      return { type, registration_number: written(number), org_id: `${scheme}-${number}` };
    }
  }
  return {
    type: "Registration number",
    registration_number: text.replaceAll(/\s+/gu, " ").trim(),
    org_id: null,
  };
}

/**
 * The form in which numbers are compared: "ke/2001 77" and "KE-2001.77" are one. The same as the index
 * registrations_without_org_id says, which knows ASCII letters only.
 */
export const comparedNumber = (text: string): string =>
  text.replaceAll(/[\s./-]+/g, "").replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
