import refusals from "#content/editorial/refusals.json";
import type { FormPageOf, Statement } from "#content/contract/form-pages.ts";
import type { HostProof, OnboardingStatus } from "#content/contract/onboarding.ts";
import type { Texts } from "#content/language/texts.ts";
import { labelOf } from "#site/profile/profile-facts.ts";
import { inEnglish } from "./form-view.ts";

type Fact = { label: string; text: string; href?: string | null };

/** "23 November 2026, 14:05 UTC" of an instant in ISO 8601. */
const moment = (instant: string, t: Texts): string =>
  `${t.date(instant.slice(0, 10))}, ${instant.slice(11, 16)} UTC`;

/** How long others waited for a decision; unknown when too few were decided. */
const usually = (days: number | null, t: Texts): string =>
  days === null
    ? t.text("status.usually_unknown")
    : t.text("status.usually", { count: Math.max(1, Math.ceil(days)) });

const noticeIn = (statement: Statement | null, t: Texts): string | null =>
  statement === null ? null : (inEnglish(t, statement.detail) ?? t.text(`told.${statement.kind}`));

/** The status of a claim, a registration or a change, and what happens next. */
export function onboardingStatusView(
  { status, secret, code, notice, usualDays, mails }: FormPageOf<"/onboard/status">,
  t: Texts,
) {
  const common = {
    path: "/onboard/status",
    title: t.text("status.yours"),
    description: t.text("status.description"),
    again: t.html("status.again"),
    action: "/api/onboard/status/page",
    secret,
    code,
    notice: noticeIn(notice, t),
  };
  if (status === null) {
    return { ...common, state: null, next: [], facts: [], proof: null, buttons: [] };
  }
  const proof = proofOf(status.host_proof, t);
  const waits = status.status === "pending_review";
  const button = (value: "confirm" | "look" | "mail" | "withdraw") => ({
    value,
    text: t.text(`status.${value}`),
    main: false,
  });
  return {
    ...common,
    state: t.text(`status.${status.status}`),
    next: nextOf(status, { canProve: proof?.isOpen === true, usualDays, mails }, t),
    facts: factsOf(status, t),
    proof,
    buttons: [
      proof?.isOpen && code !== "" && { ...button("confirm"), main: true },
      proof?.isOpen && button("look"),
      proof?.byMail && button("mail"),
      waits && button("withdraw"),
    ].filter((part) => typeof part === "object"),
  };
}

function nextOf(
  { status, reason, wallet, other_wallet_at }: OnboardingStatus,
  {
    canProve,
    usualDays,
    mails,
  }: { canProve: boolean } & Pick<FormPageOf<"/onboard/status">, "usualDays" | "mails">,
  t: Texts,
): string[] {
  if (status === "pending_review") {
    return [
      t.text("status.reviewed"),
      ...(canProve ? [t.text("status.can_prove")] : []),
      usually(usualDays, t),
      t.text(mails ? "status.mailed" : "status.look_again"),
      t.text("status.expires"),
    ];
  }
  if (status === "rejected") return [...because(reason, t), t.text("status.nothing_changed")];
  const stop =
    other_wallet_at === null
      ? []
      : [t.text("status.other_wallet", { date: moment(other_wallet_at, t) })];
  return [t.text("status.shown"), ...walletNext(wallet, t), ...stop];
}

/** The reason of a decision: the reviewer's own words, or a standard one of the service. */
function because(reason: string | null, t: Texts): string[] {
  if (reason === null) return [];
  const words = reason === "expired" ? t.text("status.expired") : t.word(reason);
  return [t.text("status.because", { reason: words })];
}

function walletNext(
  { state, takes_effect_at, reason }: OnboardingStatus["wallet"],
  t: Texts,
): string[] {
  if (state === "held" && takes_effect_at !== null) {
    return [t.text("status.wallet_held", { date: moment(takes_effect_at, t) })];
  }
  if (state === "stopped") return [t.text("status.wallet_stopped"), ...because(reason, t)];
  return state === "in_effect" || state === "replaced" ? [t.text(`status.wallet_${state}`)] : [];
}

const dates = (
  { submitted_at, reviewed_at }: Pick<OnboardingStatus, "submitted_at" | "reviewed_at">,
  t: Texts,
): Fact[] => [
  { label: t.text("status.sent"), text: moment(submitted_at, t) },
  ...(reviewed_at === null
    ? []
    : [{ label: t.text("status.decided"), text: moment(reviewed_at, t) }]),
];

function factsOf(status: OnboardingStatus, t: Texts): Fact[] {
  const { wallet, name, slug, type, submission_id: id } = status;
  const { address, proven } = wallet;
  const facts = [
    {
      label: t.text("status.request"),
      text: t.text("status.numbered", { type: t.text(`status.${type}`), id }),
    },
    name !== null && {
      label: t.text("status.organisation"),
      text: name,
      href: slug && `/nonprofits/${slug}`,
    },
    ...dates(status, t),
    address !== null && {
      label: t.text("status.wallet"),
      text: proven ? t.text("status.proved", { address }) : address,
    },
  ];
  return facts.filter((fact) => fact !== false);
}

/** How to prove control of the website; null when that does not apply. */
function proofOf(proof: HostProof | null, t: Texts) {
  if (proof === null) return null;
  const { token, file_url, dns_name, state, message } = proof;
  const isOpen = state === "not_proven" && token !== null;
  return {
    isOpen,
    byMail: isOpen && proof.email,
    message: inEnglish(t, message) ?? t.text(`told.${state}`),
    token: token ?? "",
    file: file_url ?? "",
    dns: dns_name ?? "",
  };
}

/** The status of a correction, and what happens next. */
export function correctionStatusView(
  { status, name, secret, notice, usualDays }: FormPageOf<"/corrections/status">,
  t: Texts,
) {
  const common = {
    path: "/corrections/status",
    title: t.text("status.correction_yours"),
    description: t.text("status.correction_description"),
    again: t.html("status.correction_again"),
    action: "/api/corrections/status/page",
    secret,
    code: "",
    notice: noticeIn(notice, t),
    proof: null,
    buttons: [],
  };
  if (status === null) return { ...common, state: null, next: [], facts: [] };
  const { slug, field, reason } = status;
  const next = {
    pending_review: [
      t.text("status.correction_reviewed"),
      usually(usualDays, t),
      t.text("status.look_again"),
      t.text("status.expires"),
    ],
    approved: [t.text("status.corrected")],
    rejected: [...because(reason, t), t.text("status.not_corrected")],
  }[status.status];
  return {
    ...common,
    state: t.text(`status.correction_${status.status}`),
    next,
    facts: [
      { label: t.text("status.profile"), text: name, href: `/nonprofits/${slug}` },
      {
        label: t.text("status.value"),
        text: field === "other" ? t.text("status.other") : labelOf(field, t),
      },
      ...dates(status, t),
      {
        label: t.text("history.heading"),
        text: t.text("profile.all_changes"),
        href: `/history/${slug}`,
      },
    ],
  };
}

export type StatusView = ReturnType<typeof onboardingStatusView | typeof correctionStatusView>;
const byKind: Readonly<Record<string, { title: string; text: string }>> = refusals;

/** The page about a refused request. The API's own words are shown only where they alone say what is wrong. */
export function refusalView(
  { status, code, detail, waitS, sent }: FormPageOf<"/refusal">,
  t: Texts,
) {
  // For a form, a 400 is shown as a 409: its address is right.
  const page = sent && status === 400 ? 409 : status;
  const fallback = status < 500 ? refusals["409"] : refusals.other;
  const { title, text } = byKind[code] ?? byKind[String(page)] ?? fallback;
  return {
    title: t.word(title),
    text: t.word(text),
    detail: exact.has(status) ? inEnglish(t, detail) : null,
    wait: waitS === null ? null : waitText(waitS, t),
    sent,
    stored: sent ? t.text(isUnclear(status) ? "refusal.maybe_stored" : "refusal.not_stored") : null,
  };
}
const exact: ReadonlySet<number> = new Set([400, 409, 422]);

/** Whether the request may have been stored: a busy or full service (503, 507) refuses before it stores. */
const isUnclear = (status: number): boolean => status >= 500 && status !== 503 && status !== 507;

const waitText = (seconds: number, t: Texts): string =>
  seconds > 90
    ? t.text("refusal.wait_minutes", { count: Math.ceil(seconds / 60) })
    : t.text("refusal.wait_seconds", { count: seconds });
