import type { CorrectionStatus } from "#content/contract/correction.ts";
import { el, part, showFacts } from "#site/browser/dom.ts";

const states: Readonly<Record<CorrectionStatus["status"], string>> = {
  pending_review: "Waits for an operator",
  approved: "Accepted",
  rejected: "Rejected",
};

/** The secret stands after # in the address and travels in a header: no log of addresses and no referrer holds it. */
async function show(): Promise<void> {
  const said = part("#correction-message");
  const list = part("#correction-facts");
  list.hidden = true;
  const [, secret] = /^#([\w-]{43})$/.exec(location.hash) ?? [];
  if (secret === undefined) {
    said.textContent = "The link is incomplete: part of it is missing after the #.";
    return;
  }
  said.textContent = "Looking …";
  try {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch("/api/corrections/status", { cache: "no-store", headers });
    const status = (await response.json()) as CorrectionStatus & { detail?: string };
    said.textContent = response.ok ? status.message : (status.detail ?? "Nothing was found.");
    if (response.ok) draw(list, status);
  } catch {
    said.textContent = "The directory does not answer. Please try again.";
  }
}

function draw(list: HTMLElement, status: CorrectionStatus): void {
  const slug = encodeURIComponent(status.slug);
  showFacts(list, [
    ["State", states[status.status]],
    ["Reason", status.reason],
    ["Field", status.field.replaceAll("_", " ")],
    ["Profile", el("a", { href: `/nonprofits/${slug}` }, [status.profile_url])],
    ["History", el("a", { href: `/api/history/${slug}` }, [status.history_url])],
    ["Sent", status.submitted_at],
    ["Decided", status.reviewed_at],
  ]);
  list.hidden = false;
}

addEventListener("hashchange", () => void show());
void show();
