import type { SignedReceipt } from "#content/contract/donation.ts";
import { el, part, showFacts } from "#site/browser/dom.ts";
import { sayingOf } from "#site/browser/texts.ts";

const text = sayingOf(part("#receipt"));
const { locale } = part("#receipt").dataset;
const days = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
const exactly = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 });
const networkNames = JSON.parse(part("#receipt").dataset["networks"] ?? "{}") as Record<
  string,
  string
>;

/** "23 November 2026, 03:18:40 UTC". */
const moment = (instant: string): string =>
  `${days.format(new Date(instant))}, ${instant.slice(11, 19)} UTC`;

void showReceipt(new URLSearchParams(location.search));

/** Shows the receipt that the page's address names: ?nonprofit=slug&id=… */
async function showReceipt(query: URLSearchParams): Promise<void> {
  const [slug, id] = [query.get("nonprofit"), query.get("id")];
  if (slug === null || id === null) return explain();
  const path = `/api/donations/${encodeURIComponent(slug)}/${encodeURIComponent(id)}`;
  say(text("looking"));
  try {
    const answer = await fetch(path, { signal: AbortSignal.timeout(15_000) });
    if (answer.status === 404) return explain(text("missing"));
    if (answer.status === 409) return explain(text("invented"));
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    draw((await answer.json()) as SignedReceipt, path);
  } catch {
    say(text("away"));
  }
}

function draw({ receipt, signature, explorer_url, correction }: SignedReceipt, path: string): void {
  const { nonprofit, evidence } = receipt;
  const amount = exactly.format(receipt.amount_usdc);
  showFacts(part("#receipt-shown .facts"), [
    [text("to"), nonprofit.name],
    ...nonprofit.registrations.map(
      ({ country, type, registration_number: number }) =>
        [text("registered"), `${country}, ${type} ${number}`] as const,
    ),
    [text("amount"), `${amount} ${receipt.currency}`],
    [text("date"), moment(receipt.settled_at)],
    [text("network"), networkNames[evidence.cluster] ?? evidence.cluster],
    [text("donor"), evidence.donor],
    [text("recipient"), evidence.recipient],
    [text("source"), evidence.source ?? null],
    [text("destination"), evidence.destination],
    [text("mint"), evidence.mint],
    [text("transaction"), evidence.tx_signature],
    [text("slot"), String(evidence.slot)],
    [text("memo"), evidence.memo],
    [text("chain"), evidence.network],
    [text("receipt"), receipt.id],
    [text("issuer"), receipt.issuer],
  ]);
  const signed = part("#receipt .signature");
  signed.replaceChildren(text("signature"), el("code", {}, [signature]));
  if (explorer_url?.startsWith("https://")) {
    signed.after(el("a", { href: explorer_url }, [text("explorer")]));
  }
  const file = part("#receipt-json") as HTMLAnchorElement;
  file.href = path;
  file.download = `receipt-${receipt.id}.json`;
  part("#receipt button").addEventListener("click", () => print());
  part("#receipt-shown").hidden = false;
  document.title = text("title", { amount, name: nonprofit.name });
  const voided = correction?.correction.voided_at;
  say(voided === undefined ? "" : text("void", { date: moment(voided) }));
}

/** Shows what a receipt is and where to find one. */
function explain(words = ""): void {
  say(words);
  part("#receipt").classList.add("unknown");
}

function say(words: string): void {
  part("#receipt-status").textContent = words;
}
