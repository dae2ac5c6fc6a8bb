import type { OnboardingStatus } from "#content/contract/onboarding.ts";
import { el, showFacts } from "#site/browser/dom.ts";

const message = document.querySelector<HTMLElement>("#status-message");
const facts = document.querySelector<HTMLElement>("#status-facts");
if (message !== null && facts !== null) {
  const show = () => void showStatus(message, facts);
  addEventListener("hashchange", show);
  show();
}

/** The secret stands after # in the address and travels in a header: no log of addresses and no referrer holds it. */
async function showStatus(said: HTMLElement, list: HTMLElement): Promise<void> {
  const token = location.hash.slice(1);
  list.hidden = true;
  if (!/^[\w-]{43}$/.test(token)) {
    said.textContent = "The link is incomplete: part of it is missing after the #.";
    return;
  }
  said.textContent = "Looking …";
  try {
    const response = await fetch("/api/onboard/status", {
      cache: "no-store",
      headers: { authorization: `Bearer ${token}` },
    });
    const answer = (await response.json()) as OnboardingStatus & { detail?: string };
    if (!response.ok) {
      said.textContent = answer.detail ?? "Nothing was found.";
      return;
    }
    said.textContent = answer.message;
    draw(list, answer);
  } catch {
    said.textContent = "The directory does not answer. Please try again.";
  }
}

/** A stored name in words: in_effect is "in effect". */
const inWords = (name: string) => name.replaceAll("_", " ");
const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function draw(list: HTMLElement, status: OnboardingStatus): void {
  const { wallet } = status;
  const until = wallet.takes_effect_at === null ? "" : ` until ${wallet.takes_effect_at}`;
  const why = wallet.reason === null ? "" : `: ${wallet.reason}`;
  const rows: readonly (readonly [string, Node | string | null])[] = [
    ["Request", `${capitalised(status.type)} ${status.submission_id}`],
    ["State", status.status === "pending_review" ? "Waits for review" : capitalised(status.status)],
    ["Reason", status.reason],
    ["Organisation", status.name],
    ["Sent", status.submitted_at],
    ["Reviewed", status.reviewed_at],
    [
      "Wallet",
      wallet.address === null
        ? null
        : `${wallet.address}, ${inWords(wallet.state)}${until}${why}${wallet.proven ? " (control proved)" : ""}`,
    ],
    [
      "Another wallet",
      status.other_wallet_at === null
        ? null
        : `Another request changes the wallet of this profile at ${status.other_wallet_at}. If you did not ask for this, contact the directory before then: it can be stopped.`,
    ],
    ["Profile", profileOf(status)],
  ];
  showFacts(list, rows);
  list.hidden = false;
}

function profileOf({ slug, profile_url }: OnboardingStatus): Node | string | null {
  if (profile_url === null || slug === null) return profile_url;
  return el("a", { href: `/nonprofits/${encodeURIComponent(slug)}` }, [profile_url]);
}
