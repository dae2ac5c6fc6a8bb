import type { FormPageOf } from "#content/contract/form-pages.ts";
import type { HostProof, OnboardingStatus } from "#content/contract/onboarding.ts";
import { dateInWords } from "#content/nonprofit/register-facts.ts";
import { labelOf } from "#site/profile/profile-facts.ts";
import { counted } from "#site/parts/words.ts";

type Fact = { label: string; text: string; href?: string };

/** "23 November 2026, 14:05 UTC" of an instant in ISO 8601. */
const momentInWords = (instant: string): string =>
  `${dateInWords(instant.slice(0, 10))}, ${instant.slice(11, 16)} UTC`;

/** How long others waited for a decision; null where too few were decided to say so. */
const usually = (days: number | null): string[] => {
  if (days === null) {
    return ["How long that takes depends on who runs this directory. Look again in a few days."];
  }
  const time = days < 1 ? "a day" : counted(Math.ceil(days), "day", "days");
  return [`Half of the last ones were decided within ${time}.`];
};

const askAgain = "You can read the decision on this page. No e-mail is sent, so keep the link.";
const expires = "What no one decides within 180 days expires, and you can send it again.";

/** What became of a claim, a registration or a change, and what happens next. */
export function onboardingStatusView({
  status,
  secret,
  code,
  said,
  usualDays,
}: FormPageOf<"/onboard/status">) {
  const common = { secret, code, said, action: "/api/onboard/status/page" };
  if (status === null) {
    return { ...common, state: null, next: [], facts: [], proof: null, buttons: [] };
  }
  const proof = proofOf(status.host_proof);
  const waits = status.status === "pending_review";
  return {
    ...common,
    state: { pending_review: "Waits for review", approved: "Approved", rejected: "Not approved" }[
      status.status
    ],
    next: nextOf(status, proof !== null && proof.isOpen, usualDays),
    facts: factsOf(status),
    proof,
    buttons: [
      ...(proof?.isOpen && code !== ""
        ? [{ value: "confirm", text: "Confirm that we asked for this", main: true }]
        : []),
      ...(proof?.isOpen ? [{ value: "look", text: "I have published it: look now" }] : []),
      ...(proof?.byMail ? [{ value: "mail", text: "Send a link to my e-mail instead" }] : []),
      ...(waits ? [{ value: "withdraw", text: "Withdraw this request" }] : []),
    ],
  };
}

function nextOf(status: OnboardingStatus, canProve: boolean, usualDays: number | null): string[] {
  const { wallet, other_wallet_at } = status;
  const stop =
    other_wallet_at === null
      ? []
      : [
          `Another request changes the wallet of this profile on ${momentInWords(other_wallet_at)}. If you did not ask for it, write to the directory before then: it can be stopped.`,
        ];
  if (status.status === "pending_review") {
    return [
      "A person compares what you sent with public registers and with the organisation’s website. Nothing of it is public before.",
      ...(canProve
        ? ["You can help: prove below that the website is yours. Nothing helps the reviewer more."]
        : []),
      ...usually(usualDays),
      askAgain,
      expires,
    ];
  }
  if (status.status === "rejected") {
    const why = status.reason === null ? [] : [`The reason: ${reasonInWords(status.reason)}`];
    return [...why, "Nothing was changed. You can send another request at any time."];
  }
  return ["The profile shows it, and is marked as claimed.", ...walletNext(wallet), ...stop];
}

const reasonInWords = (reason: string): string =>
  reason === "expired" ? "no one decided in time. Please send it again." : reason;

function walletNext(wallet: OnboardingStatus["wallet"]): string[] {
  const { state, takes_effect_at, reason } = wallet;
  const until = takes_effect_at === null ? "soon" : `on ${momentInWords(takes_effect_at)}`;
  const words: Record<typeof state, string | null> = {
    none: null,
    in_review: null,
    in_effect: "Gifts go to your wallet from now on.",
    held: `Your wallet takes effect ${until}. It waits so that a change you did not ask for can be stopped. Until then gifts go to the wallet before, if there is one.`,
    stopped: `The wallet was stopped${reason === null ? "" : `: ${reason}`}. Gifts go to the wallet before, if there is one.`,
    replaced: "Another wallet has taken the place of yours since.",
    rejected: null,
  };
  const found = words[state];
  return found === null ? [] : [found];
}

const types: Readonly<Record<OnboardingStatus["type"], string>> = {
  claim: "Claim of a profile",
  registration: "New organisation",
  change: "Change of a claimed profile",
};

function factsOf(status: OnboardingStatus): Fact[] {
  const { wallet, slug } = status;
  const address = `${wallet.address ?? ""}${wallet.proven ? ", control proved" : ""}`;
  return [
    { label: "Request", text: `${types[status.type]}, number ${status.submission_id}` },
    ...(status.name === null ? [] : [nameFact(status.name, slug)]),
    { label: "Sent", text: momentInWords(status.submitted_at) },
    ...(status.reviewed_at === null
      ? []
      : [{ label: "Decided", text: momentInWords(status.reviewed_at) }]),
    ...(wallet.address === null ? [] : [{ label: "Wallet", text: address }]),
  ];
}

const nameFact = (name: string, slug: string | null): Fact =>
  slug === null
    ? { label: "Organisation", text: name }
    : { label: "Organisation", text: name, href: `/nonprofits/${slug}` };

/** How control of the website is proven; null where there is nothing to say of it. */
function proofOf(proof: HostProof | null) {
  if (proof === null) return null;
  const { token, file_url, dns_name } = proof;
  const isOpen = proof.state === "not_proven" && token !== null;
  return {
    isOpen,
    byMail: isOpen && proof.email,
    message: proof.message,
    token: token ?? "",
    file: file_url ?? "",
    dns: dns_name ?? "",
  };
}

/** What became of a correction, and what happens next. */
export function correctionStatusView({
  status,
  secret,
  said,
  usualDays,
}: FormPageOf<"/corrections/status">) {
  const common = {
    ...{ secret, code: "", said, proof: null, buttons: [] },
    action: "/api/corrections/status/page",
  };
  if (status === null) return { ...common, state: null, next: [], facts: [] };
  const { slug, field, reason } = status;
  const next = {
    pending_review: [
      "A person looks at it, asks the register or the organisation where needed, and decides. Nothing of it is public before.",
      ...usually(usualDays),
      askAgain,
      expires,
    ],
    approved: ["The profile was put right. Thank you."],
    rejected: [
      reason === null ? "It was not accepted." : `The reason: ${reasonInWords(reason)}`,
      "The profile stays as it is. If you know more, you can send another correction.",
    ],
  }[status.status];
  const states = {
    pending_review: "Waits for an operator",
    approved: "Accepted",
    rejected: "Not accepted",
  };
  return {
    ...common,
    state: states[status.status],
    next,
    facts: [
      { label: "Profile", text: slug, href: `/nonprofits/${slug}` },
      { label: "Value", text: field === "other" ? "Something else" : labelOf(field) },
      { label: "Sent", text: momentInWords(status.submitted_at) },
      ...(status.reviewed_at === null
        ? []
        : [{ label: "Decided", text: momentInWords(status.reviewed_at) }]),
      { label: "History", text: "All changes of the profile", href: `/history/${slug}` },
    ],
  };
}

export type StatusView = ReturnType<typeof onboardingStatusView | typeof correctionStatusView>;
