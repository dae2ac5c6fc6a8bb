import type { SignedReceipt } from "#content/contract/donation.ts";
import { wordsOfCluster } from "#content/donation/network.ts";
import { el, part, showFacts } from "#site/browser/dom.ts";

/** "23 November 2026 at 03:18:40 UTC". */
const moment = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "long",
  timeStyle: "long",
  timeZone: "UTC",
});

void showReceipt(new URLSearchParams(location.search));

/** Shows the receipt that the page's address names: ?nonprofit=slug&id=… */
async function showReceipt(query: URLSearchParams): Promise<void> {
  const [slug, id] = [query.get("nonprofit"), query.get("id")];
  if (slug === null || id === null) return explain();
  const path = `/api/donations/${encodeURIComponent(slug)}/${encodeURIComponent(id)}`;
  say("Looking for the receipt…");
  try {
    const answer = await fetch(path, { signal: AbortSignal.timeout(15_000) });
    if (answer.status === 404) return explain("There is no receipt at this address.");
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    draw((await answer.json()) as SignedReceipt, path);
  } catch {
    say("The directory's service does not answer at the moment. Please try again in a moment.");
  }
}

function draw({ receipt, signature, explorer_url, correction }: SignedReceipt, path: string): void {
  const { nonprofit, evidence } = receipt;
  showFacts(part("#receipt .facts"), [
    ["Given to", nonprofit.name],
    ...nonprofit.registrations.map(
      (one) => ["Registered", `${one.country}, ${one.type} ${one.registration_number}`] as const,
    ),
    ["Amount", `${receipt.amount_usdc} ${receipt.currency}`],
    ["Date", moment.format(new Date(receipt.settled_at))],
    ["Network", wordsOfCluster(evidence.cluster).name],
    ["Given by (wallet)", evidence.donor],
    ["Received by (wallet)", evidence.recipient],
    ["From token account", evidence.source ?? null],
    ["To token account", evidence.destination],
    ["Token (mint)", evidence.mint],
    ["Transaction", evidence.tx_signature],
    ["Slot", String(evidence.slot)],
    ["Memo", evidence.memo],
    ["Chain", evidence.network],
    ["Receipt", receipt.id],
    ["Issued by", receipt.issuer],
  ]);
  const signed = part("#receipt .signature");
  signed.replaceChildren("Signature: ", el("code", {}, [signature]));
  if (explorer_url?.startsWith("https://")) {
    signed.after(el("a", { href: explorer_url }, ["Look at the transaction in an explorer"]));
  }
  const file = part("#receipt-json") as HTMLAnchorElement;
  file.href = path;
  file.download = `receipt-${receipt.id}.json`;
  part("#receipt button").addEventListener("click", () => print());
  part("#receipt-shown").hidden = false;
  document.title = `Receipt: ${receipt.amount_usdc} USDC to ${nonprofit.name}`;
  const voided = correction?.correction.voided_at.replace("T", " ").replace("Z", " UTC");
  say(
    voided === undefined
      ? ""
      : `This receipt is void since ${voided}: the chain no longer holds this transfer.`,
  );
}

/** Shows what a receipt is and where to find one. */
function explain(words = ""): void {
  say(words);
  part("#receipt").classList.add("unknown");
}

function say(words: string): void {
  part("#receipt-status").textContent = words;
}
