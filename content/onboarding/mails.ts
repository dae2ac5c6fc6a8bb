import mails from "#content/editorial/mails.json";
import { fill } from "#content/contract/base/fill.ts";
import { type Clock, dayMs } from "#content/contract/base/time.ts";
import { openLease } from "#content/operation/lease-store.ts";
import type { Store } from "#content/store/open.ts";
import type { OnboardingKeys } from "./keys.ts";
import { withdrawn } from "./onboarding-status.ts";
import { profileOf, type SendMail } from "./prove-host.ts";
import { OnboardingRequest } from "./read.ts";
import { type DueMail, dueMails, type Mail, mailsOfDay, saveMail } from "./store.ts";

type MailWorld = Pick<OnboardingKeys, "statusToken"> & {
  store: Store;
  clock: Clock;
  baseUrl: string;
  sendMail: SendMail;
  /** Stops the work between two mails. */
  stopping?: AbortSignal | undefined;
};

const batchMax = 50;
const firstPauseMs = 600_000;
/** The most first mails per day for one network (/24 or /48): more would let a stranger fill mailboxes. */
export const networkMailsMax = 5;
const leaseMs = 120_000;

/** Opens the work of mailing claimants about their requests, which one process at a time does. */
export function openMails(world: MailWorld): () => Promise<void> {
  const lease = openLease(world.store, world.clock, { name: "mails", ms: leaseMs });
  return async () => {
    for (const due of await dueMails(world.store, world.clock().getTime(), batchMax)) {
      if (world.stopping?.aborted || !(await lease.hold())) return;
      await tell(world, due);
    }
  };
}

type MailCount = Pick<Mail, "address_seal" | "network" | "told" | "sent_at">;

/**
 * Until when a mail must wait: a day after the last one to its address, and while its network has used its share of first
 * mails. 0 when it may be sent.
 */
export function waitsUntil(mail: Omit<MailCount, "sent_at">, ofDay: readonly MailCount[]): number {
  const times = (field: "address_seal" | "network") =>
    ofDay
      .filter((mailCount) => mailCount[field] === mail[field])
      .map(({ sent_at }) => sent_at ?? 0);
  const networkTimes = mail.told === "nothing" ? times("network") : [];
  const last = [
    ...times("address_seal"),
    ...(networkTimes.length < networkMailsMax ? [] : [Math.min(...networkTimes)]),
  ];
  return last.length === 0 ? 0 : Math.max(...last) + dayMs;
}

/** Sends the due mail of one request, or stores when to check again. Failed mails are retried at least daily. */
async function tell(world: MailWorld, { mail, submission }: DueMail): Promise<void> {
  const { store, clock } = world;
  const now = clock().getTime();
  const { status, reason, erased_at } = submission;
  const due_at = waitsUntil(mail, await mailsOfDay(store, now));
  const values = async (): Promise<Partial<Mail>> => {
    if (reason === withdrawn || erased_at !== null) {
      return { status: "delivered", sent_at: mail.sent_at ?? 0 };
    }
    if (due_at > 0) return { due_at };
    const isTaken = await world.sendMail(await mailOf(world, submission));
    const pauseMs = Math.min(dayMs, firstPauseMs * 2 ** Math.min(mail.attempts, 10));
    if (!isTaken) return { attempts: mail.attempts + 1, due_at: now + pauseMs };
    const sentState = { sent_at: now, attempts: 0 };
    if (status === "pending_review") return { ...sentState, told: "received" };
    return { ...sentState, told: "decision", status: "delivered" };
  };
  await saveMail(store, mail.id, await values(), now);
}

/** Mails have fixed words and nothing that a sender or reviewer typed; otherwise anyone could send words to any mailbox. */
async function mailOf(
  { store, baseUrl, statusToken }: MailWorld,
  { id, type, nonprofit_id, request, status }: DueMail["submission"],
): Promise<Parameters<SendMail>[0]> {
  // Leave out the address of a new profile, because it contains its sender's words.
  const profile = type === "registration" ? null : await profileOf(store, { nonprofit_id });
  const { subject, text, states } = mails.status;
  const values = {
    host: new URL(baseUrl).host,
    state: states[status],
    about: profile ? `about ${baseUrl}/nonprofits/${profile.slug}` : "to add an organisation",
    link: `${baseUrl}/onboard/status#${statusToken(id)}`,
  };
  return {
    to: OnboardingRequest.parse(request).contact_email,
    subject: fill(subject, values),
    text: fill(text.join("\n"), values),
  };
}
