import { secretDigest } from "#content/runtime/digest.ts";
import type { HostProof, HostProofBody } from "#content/contract/onboarding.ts";
import mails from "#content/editorial/mails.json";
import { fill } from "#content/contract/base/fill.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Clock, isoTime } from "#content/contract/base/time.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import {
  type HostControl,
  hostControl,
  hostProofLifeMs,
  hostToProve,
  provesHost,
} from "./host-proof.ts";
import { planMail, type Onboarding, onboardingStore } from "./store.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { doAll } from "#content/store/query.ts";
import type { z } from "zod";
import { type HostProofKeys } from "./keys.ts";

const tokenPath = "/.well-known/almoner-claim.txt";
/** The address of the token file at a website's host: https, unless the website itself is http. */
export function fileAt(website: string): URL {
  const { protocol, hostname } = new URL(website);
  return new URL(`${protocol}//${hostname}${tokenPath}`);
}
export const tokenRecord = (host: string): string => `_almoner-claim.${host}`;

/**
 * What one place showed: the token, something else, or unclear because it could not be reached. `said` completes "The file
 * …" or "The record …".
 */
export type Look = { kind: "found" | "absent" | "unclear"; said: string };

/** What a host showed. `unclear`: neither place had the token, and one could not be reached. */
export type HostSeen = Look & { by: "file" | "dns" };

/** Looks for a token at a host. `website` determines whether to use "www.", and https or http. */
export type HostLook = (place: {
  website: string;
  host: string;
  token: string;
}) => Promise<HostSeen>;

/** Sends a plain text; false if the mail server did not accept it within 5 s. */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<boolean>;

/** What a description needs; making it opens no connection and does not read the store. */
export type HostProofContext = HostProofKeys & {
  config: { claimChecks: boolean; mail: object | null };
};

export type HostProofWorld = HostProofContext & {
  store: Store;
  clock: Clock;
  baseUrl: string;
  look: HostLook;
  /** Null: no mail is sent. */
  sendMail: SendMail | null;
};

export type HostProofFailure =
  | { kind: "submission_not_found" }
  | { kind: "submission_decided" }
  | { kind: "host_checks_off" }
  | { kind: "host_not_reached"; said: string }
  | { kind: "mail_not_possible" }
  | { kind: "mail_sent_before" }
  | { kind: "mail_not_sent" }
  | { kind: "code_not_valid" };

type Outcome = Promise<Result<HostProof, HostProofFailure>>;

/** The profile that a request is for; null for a registration. */
export async function profileOf(
  store: Queryable,
  { nonprofit_id }: Pick<Onboarding, "nonprofit_id">,
): Promise<NonprofitRecord | null> {
  const [record] = nonprofit_id === null ? [] : await recordsById(store, [nonprofit_id]);
  return record ?? null;
}

const claimedBy = ({ request }: Onboarding, profile: NonprofitRecord | null) => ({
  profile,
  website: request.website,
});

/** What a request must prove and how, and whether it has; `seen` is the result of the last look. */
export function describeHostProof(
  { hostToken, config }: HostProofContext,
  { submission, profile, now }: Case,
  seen: string | null = null,
): HostProof {
  const claimed = claimedBy(submission, profile);
  const control = hostControl(claimed, submission, now.getTime());
  const due = hostToProve(claimed);
  const isProven = control.state === "proven";
  return {
    state: control.state,
    host: due.ok ? due.value.host : null,
    ...(due.ok && config.claimChecks ? waysToProve(due.value) : noWay),
    by: isProven ? control.by : null,
    proven_at: isProven ? isoTime(control.at) : null,
    valid_until: isProven ? isoTime(control.at + hostProofLifeMs) : null,
    message: sentenceOf(control, seen),
  };

  function waysToProve({ host, website }: Due) {
    return {
      token: hostToken(submission.id),
      file_url: fileAt(website).href,
      dns_name: tokenRecord(host),
      email:
        config.mail !== null && provesHost(submission.request.contact_email, { host, website }),
    };
  }
}

const noWay = { token: null, file_url: null, dns_name: null, email: false };

function sentenceOf(control: HostControl, seen: string | null): string {
  if (control.state === "nothing_to_prove_against") {
    return `There is nothing to prove against: ${control.why}.`;
  }
  if (control.state === "proven") return `${control.host} is proven to be yours.`;
  const why = seen === null ? "" : ` ${seen}`;
  return `Next: prove that the website ${control.host} is yours.${why}`;
}

/**
 * Carries out what the sender of a request, or an operator, asks for: looks for the token at the host, sends a link to a
 * mailbox there, or accepts the code of such a link. Only a proof is stored.
 */
export async function proveHost(
  world: HostProofWorld,
  submissionId: string,
  { email, code }: z.output<typeof HostProofBody>,
): Outcome {
  if (!world.config.claimChecks) return fail({ kind: "host_checks_off" });
  const submission = await onboardingStore.byId(world.store, submissionId);
  if (submission === null) return fail({ kind: "submission_not_found" });
  if (submission.status !== "pending_review") return fail({ kind: "submission_decided" });
  const profile = await profileOf(world.store, submission);
  const proofCase = { submission, profile, now: world.clock() };
  const due = hostToProve(claimedBy(submission, profile));
  if (!due.ok) return ok(describeHostProof(world, proofCase));
  if (typeof code === "string") return withCode(world, proofCase, due.value, code);
  if (email === true) return withMail(world, proofCase, due.value);
  const seen = await world.look({ ...due.value, token: world.hostToken(submission.id) });
  if (seen.kind === "unclear") return fail({ kind: "host_not_reached", said: seen.said });
  if (seen.kind === "absent") return ok(describeHostProof(world, proofCase, seen.said));
  return proven(world, proofCase, due.value.host, seen.by);
}

/** Repeats the look for an operator, by the id of a review, with an entry in the audit log. */
export async function checkHost(
  world: HostProofWorld,
  { id, operator }: { id: string; operator: string },
): Outcome {
  const [, key = ""] = /^onboarding-([\da-f]{1,64})$/.exec(id) ?? [];
  const outcome = await proveHost(world, key, {});
  const host = outcome.ok ? outcome.value.state : outcome.failure.kind;
  const at = world.clock().getTime();
  const submission = await onboardingStore.byId(world.store, key);
  const profile = submission && (await profileOf(world.store, submission));
  const about = profile?.name ?? submission?.request.name ?? null;
  const entry = { operator, action: "review.checked", subject: id, detail: { about, host }, at };
  await world.store.write((tx) => logOperator(tx, entry));
  return outcome;
}

type Case = { submission: Onboarding; profile: NonprofitRecord | null; now: Date };
type Due = { host: string; website: string };

async function proven(
  world: HostProofWorld,
  { submission, profile, now }: Case,
  host: string,
  by: "file" | "dns" | "email",
): Outcome {
  const proof = { proven_host: host, proven_by: by, proven_at: now.getTime() };
  await world.store.write((tx) => doAll(tx, [onboardingStore.changeWaiting(submission.id, proof)]));
  return ok(describeHostProof(world, { submission: { ...submission, ...proof }, profile, now }));
}

const codeLifeS = 86_400;

async function withMail(world: HostProofWorld, proofCase: Case, due: Due): Outcome {
  const { store, sendMail, baseUrl, statusToken, linkSeal } = world;
  const { submission, profile, now } = proofCase;
  const { contact_email: to, usdc_wallet: wallet } = submission.request;
  if (sendMail === null || !provesHost(to, due)) return fail({ kind: "mail_not_possible" });
  const mailing = { id: submission.id, host: due.host, at: now.getTime() };
  const reserved = await store.write(async (tx) => {
    const noted = await planMail(tx, mailing);
    if (noted !== null) await doAll(tx, [noted]);
    return noted !== null;
  });
  if (!reserved) return fail({ kind: "mail_sent_before" });
  const named = profile === null ? "a new profile" : `/nonprofits/${profile.slug}`;
  const page = profile === null ? named : baseUrl + named;
  const issued = Math.floor(now.getTime() / 1_000).toString(36);
  const code = `${issued}.${linkSeal(submission.id, due.host, issued)}`;
  const words = mails.host_proof;
  // Nothing that a stranger typed may be in the mail; otherwise anyone could send words to any mailbox.
  const values = {
    host: due.host,
    named,
    page,
    base_url: baseUrl,
    gifts: wallet === null ? "" : fill(words.gifts, { wallet }),
    link: `${baseUrl}/onboard/status#${statusToken(submission.id)}.${code}`,
  };
  const text = fill(words.text.join("\n"), values);
  const delivery = await sendMail({ to, subject: fill(words.subject, values), text });
  // It counts as sent even then: a slow mail server may have accepted it.
  if (!delivery) return fail({ kind: "mail_not_sent" });
  return ok(
    describeHostProof(world, proofCase, "A link was sent to contact_email; it works for 24 hours."),
  );
}

async function withCode(world: HostProofWorld, proofCase: Case, due: Due, code: string): Outcome {
  const { submission, now } = proofCase;
  const [issued = "", seal = ""] = code.trim().split(".");
  const ageS = now.getTime() / 1_000 - Number.parseInt(issued, 36);
  const isOurs =
    secretDigest(seal) === secretDigest(world.linkSeal(submission.id, due.host, issued));
  const isValid = isOurs && ageS < codeLifeS && provesHost(submission.request.contact_email, due);
  return isValid ? proven(world, proofCase, due.host, "email") : fail({ kind: "code_not_valid" });
}
