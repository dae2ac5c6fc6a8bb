import { z } from "zod";
import {
  correctable,
  OnboardingBody,
  type OnboardingType,
  onboardingLengthMax as lengthMax,
  whatToOnboard,
} from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Program } from "#content/contract/nonprofit.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import { slugIn } from "#content/nonprofit/slug.ts";
import { fitted, type Wrong, wrongsMax } from "#content/contract/problem.ts";
import { characterCount, textFault, unsafeCharacter } from "#content/nonprofit/text.ts";
import { linkIn } from "#content/enrichment/profile-values.ts";
import { itemFrom, checkText } from "#content/enrichment/value.ts";
import { readWallet } from "#content/giving/wallet.ts";

const storedText = z.string().nullable().default(null);

/** An organisation's request, checked and cleaned, as it is stored. It is never shown to the public in this form. */
export const OnboardingRequest = z.object({
  claim_slug: storedText,
  name: storedText,
  contact_email: z.string(),
  contact_name: storedText,
  usdc_wallet: storedText,
  mission: storedText,
  website: storedText,
  country_code: storedText,
  city: storedText,
  tagline: storedText,
  donation_url: storedText,
  logo_url: storedText,
  programs: storedText,
  registration_number: storedText,
  corrects: z.array(z.enum(correctable)).default([]),
});
export type OnboardingRequest = z.infer<typeof OnboardingRequest>;

/** A signature in the request, not yet verified. */
export type WalletProofSent = { challenge: string | null; signature: string };

/**
 * Reads the body of POST /api/onboard: a claim needs claim_slug and contact_email, a registration name, country and
 * contact_email. Every error is named by its field.
 */
export function readOnboarding(
  body: unknown,
  { thisYear }: { thisYear: number },
): Result<{ request: OnboardingRequest; proof: WalletProofSent | null }, Wrong[]> {
  const parsed = fitted(OnboardingBody, body);
  if (!parsed.ok) return parsed;
  const submission = parsed.value;
  const wrongs: Wrong[] = missing(submission);
  const take = (field: Field): string | null => {
    const text = submission[field];
    const read = text === null ? ok(null) : readField(field, text, thisYear);
    if (!read.ok) wrongs.push({ path: field, message: read.failure });
    return read.ok ? read.value : null;
  };
  const { country, contact_email, ...taken } = Object.fromEntries(
    fields.map((field) => [field, take(field)]),
  );
  const request = OnboardingRequest.parse({
    ...taken,
    contact_email: contact_email ?? "",
    country_code: country,
    // A form sends the names of all fields, filled or not.
    corrects: correctable.filter(
      (field) => submission.corrects.includes(field) && submission[field] !== null,
    ),
  });
  const proof = proofIn(submission);
  if (!proof.ok) wrongs.push({ path: "wallet_signature", message: proof.failure });
  if (wrongs.length > 0 || !proof.ok) return fail(wrongs.slice(0, wrongsMax));
  return ok({ request, proof: proof.value });
}

/** The type of the request: with claim_slug a claim or change of a listing, otherwise a new profile. */
export const onboardingType = (
  { claim_slug }: OnboardingRequest,
  profile: { verified: number; status: string } | null,
): OnboardingType => {
  if (claim_slug === null) return "registration";
  return profile !== null && (profile.verified === 1 || profile.status === "claimed")
    ? "change"
    : "claim";
};

function missing({ claim_slug, name, country, contact_email }: OnboardingBody): Wrong[] {
  const wrongs: Wrong[] = [];
  const need = (path: string, message: string) => wrongs.push({ path, message });
  if (claim_slug === null && name === null && country === null) need("", whatToOnboard);
  else if (claim_slug === null && name === null) {
    need("name", "A registration needs the name of the organisation; a claim needs claim_slug.");
  } else if (claim_slug === null && country === null) {
    need("country", "A registration needs the country, by its English name or ISO 3166 code.");
  }
  if (contact_email === null) {
    need(
      "contact_email",
      "contact_email is required: where a reviewer can reach you, never public.",
    );
  }
  return wrongs;
}

/** Reads a field, or says why its text cannot be used. */
type Reader = (text: string, thisYear: number) => Result<string, string>;

const live =
  (field: "contact_email" | "mission" | "website" | "city" | "tagline"): Reader =>
  (text, thisYear) =>
    checkText(field, text, thisYear);

const line =
  (field: "claim_slug" | "contact_name" | "registration_number"): Reader =>
  (text) => {
    const trimmed = text.normalize("NFC").trim();
    const fault = textFault(field, trimmed, { lengthMax: lengthMax[field] });
    return fault === null ? ok(trimmed) : fail(fault);
  };

const link =
  (field: "donation_url" | "logo_url"): Reader =>
  (text) =>
    linkIn(field, /^https?:/i.test(text.trim()) ? text : `https://${text.trim()}`);

/** Reads the programmes of a form: one per line, with the name before a colon and a description after it. */
export function programsIn(text: string): Result<Program[], string> {
  const programs: Program[] = [];
  for (const row of text.split("\n").filter((textLine) => textLine.trim() !== "")) {
    const [, name = row, description = null] = /^([^:]+):\s*(.+)$/.exec(row.trim()) ?? [];
    const read = itemFrom("programme", JSON.stringify({ name: name.trim(), description }));
    if (read.kind !== "programme" || unsafeCharacter(row, { prose: false }) !== null)
      return fail("programs has one programme a line: name: what it does.");
    programs.push(read.row);
  }
  return ok(programs);
}

function checkedName(text: string): Result<string, string> {
  const name = text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
  if (characterCount(name) > lengthMax.name) {
    return fail(`name has at most ${lengthMax.name} characters.`);
  }
  const unsafe = unsafeCharacter(text.trim(), { prose: false });
  if (unsafe !== null) return fail(`name has a character that is not allowed (${unsafe}).`);
  return /[\p{L}\p{N}]/u.test(name)
    ? ok(name)
    : fail("name has no letter or digit: send the organisation's name.");
}

function knownCountry(text: string): Result<string, string> {
  const code = text.length > lengthMax.country ? null : countryOf(text);
  const message =
    'No country has this name or code. Send its English name ("Kenya") or ISO 3166 code ("KE").';
  return code === null ? fail(message) : ok(code);
}

function walletIn(text: string): Result<string, string> {
  const wallet = readWallet(text);
  return wallet.ok ? ok(wallet.value.address) : wallet;
}

const readers = {
  claim_slug: (text, thisYear) => line("claim_slug")(slugIn(text), thisYear),
  name: checkedName,
  contact_email: live("contact_email"),
  contact_name: line("contact_name"),
  usdc_wallet: walletIn,
  mission: live("mission"),
  website: live("website"),
  country: knownCountry,
  city: live("city"),
  tagline: live("tagline"),
  donation_url: link("donation_url"),
  logo_url: link("logo_url"),
  programs: (text) => {
    const read = programsIn(text);
    return read.ok ? ok(text.trim()) : read;
  },
  registration_number: line("registration_number"),
} satisfies Record<string, Reader>;

type Field = keyof typeof readers;
const fields = Object.keys(readers) as Field[];

/** Reads one field of a request as it is stored, or says what is wrong; a country becomes its code. */
export const readField = (field: Field, text: string, thisYear: number) =>
  readers[field](text, thisYear);

const noSignature = "wallet_signature is a base58 signature of 64 bytes.";

function proofIn(body: OnboardingBody): Result<WalletProofSent | null, string> {
  const { usdc_wallet, wallet_challenge: challenge, wallet_signature: signature } = body;
  if (signature === null && challenge === null) return ok(null);
  if (signature === null) {
    return fail("wallet_challenge came without wallet_signature: send both or neither.");
  }
  if (usdc_wallet === null) {
    return fail("wallet_signature came without usdc_wallet: send both or neither.");
  }
  const usable = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(signature.trim());
  if (!usable) return fail(noSignature);
  if (challenge !== null && challenge.length > lengthMax.wallet_challenge) {
    return fail(
      "wallet_challenge is not a challenge: send the text of GET /api/onboard/challenge.",
    );
  }
  return ok({ challenge, signature: signature.trim() });
}
