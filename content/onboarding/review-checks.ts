import type { Duplicate, OnboardingType } from "#content/contract/onboarding.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fill } from "#content/contract/base/fill.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { failed, noted, passed, type ReviewCheck } from "#content/contract/review.ts";
import says from "#content/editorial/review-checks.json";
import { isMixedScript } from "#content/enrichment/agent.ts";
import { nameSimilarity, nearNameFrom } from "#content/nonprofit/near-name.ts";
import { isTestData, normalise } from "#content/enrichment/value.ts";
import { namedBy } from "#content/nonprofit/provenance.ts";
import { emailHost, type HostControl } from "./host-proof.ts";
import type { OnboardingRequest } from "./read.ts";
import { fold, plainLetters } from "#content/nonprofit/text.ts";
import { comparedNumber, readRegistrationNumber } from "#content/register/org-id.ts";
import { readWallet } from "#content/giving/wallet.ts";

/** What the checks test. `profile` is the listing that is claimed or changed, null for a registration. */
export type Examination = {
  type: OnboardingType;
  request: OnboardingRequest;
  profile: NonprofitRecord | null;
  /** Whether the signature in the request was verified on arrival. */
  isProven: boolean;
  host: HostControl;
  /** Why the wallet would be held after approval; null without a wallet, or if it takes effect at once. */
  whyHeld: string | null;
  duplicates: readonly Duplicate[];
  otherOwners: readonly string[];
  /** Other waiting requests for the same profile. */
  rivals: number;
  /** Why an earlier wallet from the same contact was stopped; null if none was. */
  stoppedFor: string | null;
  /** When the held change that this one would replace takes effect; null if there is none. */
  heldUntil: string | null;
};

/** What a reviewer should consider, most important first. Nothing here opens a connection. */
export const onboardingChecks = (examination: Examination): ReviewCheck[] =>
  [
    email,
    control,
    website,
    name,
    number,
    wallet,
    signature,
    owners,
    hold,
    otherHold,
    duplicates,
    rivals,
    testData,
  ].flatMap((check) => check(examination) ?? []);

type Check = (examination: Examination) => ReviewCheck | null;

const countText = (forms: { one: string; other: string }, count: number): string =>
  fill(count === 1 ? forms.one : forms.other, { count });

/**
 * Proof is only what the directory already knew from someone who cannot be the applicant: whoever invents an e-mail address
 * can also invent a website for it, and agents that agree on it.
 */
const email: Check = (examination) =>
  stoppedAddress(examination) ?? knownAddress(examination) ?? addressHost(examination);

const stoppedAddress: Check = ({ stoppedFor }) =>
  stoppedFor === null
    ? null
    : failed("e-mail", `A wallet that came from this address was stopped: ${stoppedFor}`);

const knownAddress: Check = ({ type, request, profile }) => {
  const liveEmail = profile?.contact_email ?? null;
  const sentEmail = normalise.contact_email(request.contact_email);
  if (liveEmail === null || normalise.contact_email(liveEmail) !== sentEmail) return null;
  const source = unprovenSource(profile, "contact_email", type);
  return source === null
    ? passed("e-mail", says.address_known)
    : noted("e-mail", fill(says.address_known_from, { source }));
};

const addressHost: Check = ({ type, request, profile }) => {
  const sentEmail = request.contact_email;
  const live = profile?.website ?? null;
  const ofLive = emailHost(sentEmail, live);
  if (ofLive === "own_site") {
    const source = unprovenSource(profile, "website", type);
    return source === null
      ? passed("e-mail", says.host_of_profile)
      : noted("e-mail", fill(says.host_of_profile_from, { source }));
  }
  if (live === null && emailHost(sentEmail, request.website) === "own_site") {
    return noted("e-mail", says.host_of_request);
  }
  return (ofLive === "disposable" ? failed : noted)("e-mail", says.host[ofLive]);
};

/** The source of a value if it may be the applicant: agents need only two ids. Null: the value counts as known. */
function unprovenSource(
  profile: NonprofitRecord | null,
  field: "contact_email" | "website",
  type: OnboardingType,
): string | null {
  const sourceName = namedBy(profile?.provenance[field]);
  if (sourceName === "consensus") return "agents";
  if (sourceName === "correction") return "a correction, which anyone can send";
  // A listing has an organisation's value only if that organisation's verification was revoked.
  return sourceName === "organisation" && type === "claim" ? "a claim that was taken back" : null;
}

const control: Check = ({ host }) => {
  if (host.state === "nothing_to_prove_against") {
    return noted("host", `Nothing to prove against: ${host.why}.`);
  }
  if (host.state === "not_proven") {
    return noted("host", `Not proven: nothing shows that the sender controls ${host.host}.`);
  }
  const provenHost = `Proven: the sender controls ${host.host}, ${says.proof[host.by]}, ${isoTime(host.at)}`;
  return host.ownWord
    ? noted("host", fill(says.own_word, { said: provenHost }))
    : passed("host", `${provenHost}.`);
};

const hold: Check = ({ request, whyHeld }) => {
  if (request.usdc_wallet === null) return null;
  return whyHeld === null
    ? noted("hold", says.at_once)
    : passed("hold", `The wallet is held after approval: ${whyHeld}.`);
};

const website: Check = ({ request, profile }) => {
  const sentWebsite = request.website;
  const live = profile?.website ?? null;
  if (sentWebsite === null || live === null) return null;
  return normalise.website(sentWebsite) === normalise.website(live)
    ? passed("website", "It is the website in the profile.")
    : noted("website", "The profile names another website.");
};

const name: Check = ({ request, profile }) => {
  const sentName = request.name ?? profile?.name ?? "";
  if (isMixedScript(sentName)) return noted("name", "It mixes alphabets that look alike.");
  if (looksLatin(sentName)) return noted("name", says.looks_latin);
  if (request.name === null || profile === null) return null;
  const similarity = nameSimilarity(request.name, profile.name).toFixed(2);
  return Number(similarity) >= nearNameFrom
    ? passed("name", `It is that of the profile (similarity ${similarity}).`)
    : failed("name", `It is not that of the profile (similarity ${similarity}).`);
};

/** Whether all letters of a name are of other alphabets and look like Latin ones. */
function looksLatin(text: string): boolean {
  const letters = fold(text);
  const plain = fold(plainLetters(text).text);
  return /\p{L}/u.test(letters) && !/[a-z]/.test(letters) && /^[ -~]*$/.test(plain);
}

const number: Check = ({ request, profile }) => {
  const sentNumber = request.registration_number;
  if (sentNumber === null || profile === null) return null;
  const registrationNumber = readRegistrationNumber(
    sentNumber,
    profile.country_code ?? request.country_code ?? "",
  );
  const registrations = profile.registrations;
  if (registrations.length === 0) return noted("registration", says.no_registration);
  const isSame = registrations.some(
    ({ org_id, registration_number }) =>
      (org_id !== null && org_id === registrationNumber.org_id) ||
      comparedNumber(registration_number) ===
        comparedNumber(registrationNumber.registration_number),
  );
  return isSame
    ? passed("registration", "The number is that of the profile.")
    : failed("registration", "The number is not that of the profile.");
};

const wallet: Check = ({ request }) => {
  if (request.usdc_wallet === null) return null;
  const address = readWallet(request.usdc_wallet);
  if (!address.ok) return failed("wallet", address.failure);
  return address.value.onCurve ? passed("wallet", says.on_curve) : noted("wallet", says.off_curve);
};

const signature: Check = ({ request, isProven }) => {
  if (request.usdc_wallet === null) return null;
  return isProven ? passed("signature", says.signed) : noted("signature", says.not_signed);
};

const owners: Check = ({ otherOwners }) =>
  otherOwners.length === 0
    ? null
    : failed("wallet owner", `Other profiles have this wallet: ${otherOwners.join(", ")}.`);

const otherHold: Check = ({ heldUntil, request }) =>
  heldUntil === null || request.usdc_wallet === null
    ? null
    : noted("held wallet", fill(says.held, { until: heldUntil }));

const duplicates: Check = ({ duplicates: candidates }) =>
  candidates.length === 0
    ? passed("duplicates", says.no_duplicates)
    : noted("duplicates", countText(says.duplicates, candidates.length));

const rivals: Check = ({ rivals: count }) =>
  count === 0 ? null : noted("others", countText(says.rivals, count));

const testData: Check = ({ request }) => {
  const person = { agent_id: "", agent_name: request.contact_name ?? "" };
  const fields = Object.entries(request).filter(
    ([field, value]) => typeof value === "string" && isTestData({ field, value, ...person }),
  );
  return fields.length === 0
    ? null
    : failed(
        "test data",
        `It looks like test data or a message: ${fields.map(([field]) => field).join(", ")}.`,
      );
};
