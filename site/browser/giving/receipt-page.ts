import canonicalize from "canonicalize";
import type { SignedReceipt } from "#content/contract/donation.ts";
import { el, part, showFacts } from "#site/browser/dom.ts";
import { sayingOf } from "#site/browser/texts.ts";

const text = sayingOf(part("#receipt"));
const { locale, networks = "{}" } = part("#receipt").dataset;
const days = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
const exactly = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 });
const networkNames: Record<string, string> = JSON.parse(networks);

/** "23 November 2026, 03:18:40 UTC". */
const moment = (instant: string): string =>
  `${days.format(new Date(instant))}, ${instant.slice(11, 19)} UTC`;

const query = new URLSearchParams(location.search);
void showReceipt({ slug: query.get("nonprofit"), id: query.get("id"), pasted: null });

part("#receipt-shown button").addEventListener("click", () => print());
part("#receipt-find").addEventListener("submit", (event) => {
  event.preventDefault();
  const read = readPasted((part("#receipt-pasted") as HTMLTextAreaElement).value);
  if (read === null) return say(text("not_receipt"));
  void showReceipt(read);
});

type ReceiptReference = { slug: string | null; id: string | null; pasted: SignedReceipt | null };

/** Reads a pasted text: a signed receipt or the address of one; null for any other text. */
function readPasted(pasted: string): ReceiptReference | null {
  const [, slug, id] =
    /[?&]nonprofit=([^&\s]+)&id=([^&\s]+)|\/api\/donations\/([^/\s]+)\/([^/?\s]+)/
      .exec(pasted.trimStart().startsWith("{") ? "" : pasted)
      ?.filter((element) => element !== undefined) ?? [];
  if (slug !== undefined && id !== undefined) return { slug, id, pasted: null };
  try {
    const signed = JSON.parse(pasted) as SignedReceipt;
    return { slug: signed.receipt.nonprofit.slug, id: signed.receipt.id, pasted: signed };
  } catch {
    return null;
  }
}

/** Shows the directory's receipt, and says whether the pasted one differs. */
async function showReceipt({ slug, id, pasted }: ReceiptReference): Promise<void> {
  if (slug === null || id === null) return explain();
  const path = `/api/donations/${encodeURIComponent(slug)}/${encodeURIComponent(id)}`;
  say(text("looking"));
  try {
    const answer = await fetch(path, { signal: AbortSignal.timeout(15_000) });
    if (answer.status === 404) return explain(text("missing"));
    if (answer.status === 409) return explain(text("invented"));
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    const signed = (await answer.json()) as SignedReceipt;
    part("#receipt").classList.remove("unknown");
    draw(signed, path);
    if (pasted === null) return;
    const isSame = (["receipt", "signature"] as const).every(
      (name) => canonicalize(pasted[name]) === canonicalize(signed[name]),
    );
    if (!isSame) say(text("differs"));
    else if (signed.correction === null) say(text("same"));
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
