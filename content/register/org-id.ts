import numbers from "#content/editorial/register-numbers.json";
import { fail, ok, type Result } from "#content/contract/base/result.ts";

/** A number as its register writes it, and the org-id by which imports recognise the organisation. */
export type RegisterNumber = {
  /** The country of the register; XS for the sample. */
  country_code: string;
  type: string;
  registration_number: string;
  org_id: string;
};

/** A number as stored: one of an unknown register stays as written, without an org-id. */
export type RegistrationNumber = Omit<RegisterNumber, "org_id"> & { org_id: string | null };

export type OrgIdFailure =
  /** `looks`: the form of numbers in the named register, or in each register if none was named. */
  | { kind: "number_not_valid"; looks: string[] }
  | { kind: "register_not_known"; prefix: string; known: string[] };

/** Replaces the first match of each pattern, one after the other. */
function rewriting(steps: readonly string[][]): (digits: string) => string {
  const compiled = steps.map(([from = "", to = ""]) => [new RegExp(from), to] as const);
  return (digits) => compiled.reduce((text, [from, to]) => text.replace(from, to), digits);
}

/**
 * The registers that this directory imports, and how they write numbers. `labels`: words before the digits that name the
 * register; `bare`: digits that belong to it without such a word (absent: none). Six-digit numbers of England never begin
 * with 1, which are Northern Ireland's. XS is a user-assigned code, for the sample. Source: org-id.guide, and the registers'
 * own descriptions.
 */
const registers = numbers.map(({ digits, bare, written, in_org_id, ...named }) => ({
  ...named,
  digits: new RegExp(digits),
  bare: bare === null ? undefined : new RegExp(bare),
  written: rewriting(written),
  inOrgId: rewriting(in_org_id),
}));
const anyNumber = "Registration number";

/** The prefixes of the org-ids that can be read. */
export const knownSchemes: readonly string[] = registers.map(({ scheme }) => scheme);

/** The scheme of an org-id: US-EIN of US-EIN-530196605. */
export const schemeOf = (orgId: string): string => orgId.slice(0, orgId.indexOf("-", 3));

const lengthMax = 64;
/** Words that people write around a number: "Registered charity no. 202918", "Tax ID: 53-0196605". */
const wordsAround = /\b(?:REGISTERED|REGISTRATION|REG|SCOTTISH|CHARITY|NUMBER|NO|NR|TAX|ID)\b/g;
const separators = /[\s./:#()№\u2010-\u2015-]+/gu;
/** A charity registered under another one's number: "GB-CHC-210183-1". */
const linkedNumber = /(?<!\d)(\d{6,7})-(?=\d{1,3}$)/;
/** A number without separators: country, word and digits. */
const numberParts = /^(US|GB|AU|XS)?([A-Z]*)(\d+(?:_\d+)?)$/;
const schemeAtStart = /^[A-Z]{2}-[A-Z\d_]*[A-Z][A-Z\d_]*(?=-.)/;

/**
 * Reads a register number in any usual spelling: "53-0196605", "EIN 530196605" and "US-EIN-530196605" are equal. `country`
 * (ISO 3166-1 alpha-2) is used if the text names none; without it, any register may match.
 */
export function readOrgId(text: string, country = ""): Result<RegisterNumber, OrgIdFailure> {
  if (text.length > lengthMax) return notValid(registers);
  const upper = text
    .normalize("NFKC")
    .toUpperCase()
    .trim()
    .replace(/^UK(?=\W)/, "GB");
  const [scheme = ""] = schemeAtStart.exec(upper) ?? [];
  if (!["", ...knownSchemes].includes(scheme)) return notKnown(scheme);
  const compact = upper
    .replaceAll(wordsAround, "")
    .replace(linkedNumber, "$1_")
    .replaceAll(separators, "");
  const [, named = "", label = "", digits] = numberParts.exec(compact) ?? [];
  if (digits === undefined) return notValid(registers);
  return readIn(named === "" && label === "" ? country : named, label, digits);
}

function readIn(country: string, label: string, digits: string) {
  const meant = registers.filter(
    ({ scheme, labels }) =>
      (country === "" || scheme.slice(0, 2) === country) &&
      (label === "" || labels.includes(label)),
  );
  if (meant.length === 0) return notKnown(`${country}${label}`);
  const register = meant.find((candidate) =>
    (label === "" ? candidate.bare : candidate.digits)?.test(digits),
  );
  if (register === undefined) return notValid(meant);
  const { scheme, type, written, inOrgId } = register;
  if (scheme === "AU-ABN" && !isAbn(digits)) return notValid([register]);
  return ok({
    country_code: scheme.slice(0, 2),
    type,
    registration_number: written(digits),
    org_id: `${scheme}-${inOrgId(digits)}`,
  });
}

const notValid = (meant: readonly (typeof registers)[number][]) =>
  fail({ kind: "number_not_valid" as const, looks: meant.map(({ looks }) => looks) });

const notKnown = (prefix: string) =>
  fail({ kind: "register_not_known" as const, prefix, known: [...knownSchemes] });

/** The first two digits of an ABN are check digits. Source: Australian Business Register, "Format of the ABN". */
function isAbn(digits: string): boolean {
  const weights = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19];
  const sum = weights.reduce((all, weight, at) => all + weight * Number(digits[at]), 0);
  // Subtracting one from the first digit, whose weight is 10.
  return (sum - 10) % 89 === 0;
}

/**
 * Reads a number that an organisation gave itself. If readOrgId cannot read it, it stays as written, without an org-id;
 * comparedNumber compares it.
 */
export function readRegistrationNumber(text: string, country_code: string): RegistrationNumber {
  const read = readOrgId(text, country_code);
  if (read.ok) return read.value;
  const registration_number = text.replaceAll(/\s+/gu, " ").trim();
  return { country_code, type: anyNumber, registration_number, org_id: null };
}

/**
 * The form for comparing numbers: "ke/2001 77" and "KE-2001.77" are equal. It must match the index
 * registrations_without_org_id, which handles only ASCII letters.
 */
export const comparedNumber = (text: string): string =>
  text.replaceAll(/[\s./-]+/g, "").replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
