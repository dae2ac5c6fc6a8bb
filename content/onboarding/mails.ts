import type { Clock } from "#content/contract/base/time.ts";
import { openLease } from "#content/operation/lease-store.ts";
import type { Store } from "#content/store/open.ts";
import type { OnboardingKeys } from "./keys.ts";
import { type DueMail, dueMails, mailsOfDay, saveMail, type Told } from "./mail-store.ts";
import { withdrawn } from "./onboarding-status.ts";
import { profileOf, type SendMail } from "./prove-host.ts";
import { OnboardingRequest } from "./read.ts";

export type MailWorld = Pick<OnboardingKeys, "statusToken"> & {
  store: Store;
  clock: Clock;
  baseUrl: string;
  sendMail: SendMail;
  /** Stops between two mails. */
  stopping?: AbortSignal | undefined;
};

const dayMs = 86_400_000;
const batchMax = 50;
const firstPauseMs = 600_000;
/** First mails in a day on behalf of one network (/24 or /48): more would let a stranger fill mailboxes. */
export const networkMailsMax = 5;
const leaseMs = 120_000;

/** Opens the work of telling claimants what becomes of their requests, which one process at a time does. */
export function openMails(world: MailWorld): () => Promise<void> {
  const lease = openLease(world.store, world.clock, { name: "mails", ms: leaseMs });
  return async () => {
    for (const due of await dueMails(world.store, world.clock().getTime(), batchMax)) {
      if (world.stopping?.aborted || !(await lease.hold())) return;
      await tell(world, due);
    }
  };
}

type MailState = { seal: string; network: string; sent_at: number | null };

/**
 * Until when a mail has to wait: a day after the last to its address, and while its network has had its share of first
 * mails. Null: it may go.
 */
export function waitsUntil(
  mail: { address_seal: string; network: string; told: Told },
  sent: readonly MailState[],
): number | null {
  const own = sent.filter(({ seal }) => seal === mail.address_seal);
  const others =
    mail.told === "nothing" ? sent.filter(({ network }) => network === mail.network) : [];
  const times = (some: readonly MailState[]) => some.map(({ sent_at }) => sent_at ?? 0);
  const wait = [
    ...times(own),
    ...(others.length >= networkMailsMax ? [Math.min(...times(others))] : []),
  ];
  return wait.length === 0 ? null : Math.max(...wait) + dayMs;
}

/** Sends what is due of one request, or notes when to look again. A mail that fails is tried again, at least once a day. */
async function tell(world: MailWorld, { mail, submission }: DueMail): Promise<void> {
  const { store, clock } = world;
  const now = clock().getTime();
  const save = (values: Parameters<typeof saveMail>[2]) => saveMail(store, mail.id, values, now);
  const { status, reason, erased_at } = submission;
  if (reason === withdrawn || erased_at !== null) {
    return void (await save({ status: "delivered", sent_at: mail.sent_at ?? now }));
  }
  const due_at = waitsUntil(mail, await mailsOfDay(store, now));
  if (due_at !== null) return void (await save({ due_at }));
  if (await world.sendMail(await mailOf(world, submission))) {
    const isDecided = status !== "pending_review";
    const told = isDecided ? "decision" : "received";
    const ended = isDecided ? "delivered" : "pending";
    return void (await save({ told, status: ended, sent_at: now, attempts: 0 }));
  }
  const pauseMs = Math.min(dayMs, firstPauseMs * 2 ** Math.min(mail.attempts, 10));
  await save({ attempts: mail.attempts + 1, due_at: now + pauseMs });
}

const states = { pending_review: "received", approved: "approved", rejected: "not approved" };

/** Fixed words: nothing that a sender or a reviewer typed stands in a mail, or anyone could have words carried to any mailbox. */
async function mailOf(
  { store, baseUrl, statusToken }: MailWorld,
  { id, type, nonprofit_id, request, status }: DueMail["submission"],
): Promise<Parameters<SendMail>[0]> {
  const { host } = new URL(baseUrl);
  // The address of a new profile is made of its sender's words.
  const profile = type === "registration" ? null : await profileOf(store, { nonprofit_id });
  const about =
    profile === null ? "to add an organisation" : `about ${baseUrl}/nonprofits/${profile.slug}`;
  return {
    to: OnboardingRequest.parse(request).contact_email,
    subject: `Your request at ${host}: ${states[status]}`,
    text: [
      `A request ${about} gave this address as its contact. It is ${states[status]}.`,
      "",
      status === "pending_review"
        ? "Follow it here, prove that the website is yours, or withdraw it:"
        : "Read the decision and its reason here:",
      `${baseUrl}/onboard/status#${statusToken(id)}`,
      "",
      "Keep this link to yourself: it opens the request for anyone.",
      "If you did not send the request, withdraw it there, or ignore this mail.",
    ].join("\n"),
  };
}
