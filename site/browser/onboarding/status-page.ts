import type { HostProof, OnboardingStatus } from "#content/contract/onboarding.ts";
import { el, part, showFacts } from "#site/browser/dom.ts";

/** What the buttons ask for, with the secret of the page. */
const asks: Readonly<Record<string, { path: string; body: () => object }>> = {
  "#status-look": { path: "host-proof", body: () => ({}) },
  "#status-mail": { path: "host-proof", body: () => ({ email: true }) },
  "#status-confirm": { path: "host-proof", body: () => ({ code: secrets().code }) },
  "#status-withdraw": { path: "withdraw", body: () => ({}) },
};

const message = document.querySelector<HTMLElement>("#status-message");
const facts = document.querySelector<HTMLElement>("#status-facts");
if (message !== null && facts !== null) {
  const show = () => void showStatus(message, facts);
  addEventListener("hashchange", show);
  show();
  for (const [id, wanted] of Object.entries(asks)) {
    part(id).addEventListener("click", () => void act(message, facts, wanted));
  }
}

/** The secret of the page, and behind it the code of a link that came by mail. */
function secrets(): { token: string; code: string } {
  const [, token = "", code = ""] =
    /^#([\w-]{43})(?:\.([\w.-]{1,200}))?$/.exec(location.hash) ?? [];
  return { token, code };
}

/** The secret stands after # in the address and travels in a header: no log of addresses and no referrer holds it. */
async function ask(
  path: string,
  init: RequestInit = {},
): Promise<{ ok: boolean; answer: unknown }> {
  const response = await fetch(`/api/onboard/${path}`, {
    cache: "no-store",
    ...init,
    headers: { authorization: `Bearer ${secrets().token}`, "content-type": "application/json" },
  });
  return { ok: response.ok, answer: await response.json() };
}

const silent = "The directory does not answer. Please try again.";

async function showStatus(said: HTMLElement, list: HTMLElement): Promise<void> {
  list.hidden = true;
  part("#status-proof").hidden = true;
  if (secrets().token === "") {
    said.textContent = "The link is incomplete: part of it is missing after the #.";
    return;
  }
  said.textContent = "Looking …";
  try {
    const { ok, answer } = await ask("status");
    const status = answer as OnboardingStatus & { detail?: string };
    said.textContent = ok ? status.message : (status.detail ?? "Nothing was found.");
    if (ok) draw(list, status);
  } catch {
    said.textContent = silent;
  }
}

/** Does what a button says, then shows the status again beside what came of it. */
async function act(
  said: HTMLElement,
  list: HTMLElement,
  { path, body }: { path: string; body: () => object },
): Promise<void> {
  const note = part("#status-note");
  note.textContent = "Asking …";
  try {
    const { answer } = await ask(path, { method: "POST", body: JSON.stringify(body()) });
    await showStatus(said, list);
    const { detail, message: text } = answer as { detail?: string; message?: string };
    note.textContent = detail ?? text ?? "";
  } catch {
    note.textContent = silent;
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
  drawProof(status.host_proof);
}

/** How control of the host is proven; nothing once the request is decided. */
function drawProof(proof: HostProof | null): void {
  if (proof === null) return;
  const isOpen = proof.state === "not_proven" && proof.token !== null;
  part("#status-proof").hidden = false;
  part("#status-note").textContent = proof.message;
  part("#status-how").hidden = !isOpen;
  part("#status-token").textContent = proof.token;
  part("#status-file").textContent = proof.file_url;
  part("#status-dns").textContent = proof.dns_name;
  part("#status-look").hidden = !isOpen;
  part("#status-mail").hidden = !isOpen || !proof.email;
  part("#status-confirm").hidden = proof.state !== "not_proven" || secrets().code === "";
}

function profileOf({ slug, profile_url }: OnboardingStatus): Node | string | null {
  if (profile_url === null || slug === null) return profile_url;
  return el("a", { href: `/nonprofits/${encodeURIComponent(slug)}` }, [profile_url]);
}
