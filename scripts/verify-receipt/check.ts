import { boundedText, fetchPlain } from "#content/runtime/plain-fetch.ts";
import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { openChain } from "#api/chain/open-chain.ts";
import type { Receipt } from "#content/contract/donation.ts";
import { feedPaths } from "#content/contract/feed.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { donationNetworks, type Landed } from "#content/contract/transfer.ts";
import { networks, offeredCaip2Of } from "#content/donation/network.ts";
import {
  type ClaimedReceipt,
  readReceipt,
  type ReceiptFailure,
  verifyReceipt,
} from "#content/donation/receipt.ts";
import { KeySet, PublicKey, publicKeyOf } from "#content/feed/signing-keys.ts";

/** Whose key has to have signed. What is not named is taken from the settings of this directory. */
export type Pins = {
  /** A key, or where it is. */
  key?: string | undefined;
  /** Origin of the directory that has to have issued the receipt. */
  issuer?: string | undefined;
  /** Origin of this directory, and its signing key, null where there is none. Null when something is named. */
  own: { issuer: string; key: PublicKey | null } | null;
};

/** What the key of a valid receipt was pinned by. */
export type PinnedBy = "--key" | "--issuer" | "ALMONER_BASE_URL" | "own key";

/** A receipt that a pinned key signed. */
export type Checked = {
  receipt: Receipt;
  issuer: string;
  signed_by: string;
  key_from: string;
  pinned_by: PinnedBy;
  /** Whether the chain was asked as well. */
  on_chain: boolean;
  /** Whether the issuer says now that it holds. A saved copy does not know that it was taken back. */
  void_checked: boolean;
};

type SourceFailure = { kind: "unreadable" | "unreachable"; from: string; why: string };

export type Failure =
  | ReceiptFailure
  | SourceFailure
  | { kind: "no_key"; from: string }
  | { kind: "other_issuer"; issuer: string; expected: string }
  /** The issuer's own key signed it, and anyone can be an issuer. */
  | { kind: "not_pinned"; issuer: string; signed_by: string }
  | { kind: "chain_disagrees"; what: string; receipt: string; chain: string }
  | { kind: "not_on_chain"; tx_signature: string }
  | { kind: "wrong_chain"; why: string };

/** Checks a receipt: `from` is a file, a URL or "-", `pins` whose it has to be, `rpc` a node that is asked as well. */
export async function checkReceipt(
  from: string,
  pins: Pins,
  rpc?: string,
): Promise<Result<Checked, Failure>> {
  const text = await readSource(from);
  if (!text.ok) return text;
  const claimed = readReceipt(text.value);
  if (!claimed.ok) return claimed;
  const { issuer } = claimed.value.receipt;
  if (pins.issuer !== undefined && pins.issuer !== issuer) {
    return fail({ kind: "other_issuer", issuer, expected: pins.issuer });
  }
  const found = await keyFor(claimed.value, pins);
  if (!found.ok) return found;
  const { key, from: key_from } = found.value;
  const verified = await verifyReceipt(claimed.value, key);
  if (!verified.ok) return verified;
  const pinned_by = pinOf(issuer, key, pins);
  if (pinned_by === null) return fail({ kind: "not_pinned", issuer, signed_by: key.kid });
  const receipt = verified.value;
  const held = await isHeld(from, receipt, { key_from, pins });
  if (!held.ok) return held;
  const onChain = rpc === undefined ? ok(null) : await compareWithChain(receipt, rpc);
  if (!onChain.ok) return onChain;
  return ok({
    receipt,
    issuer,
    signed_by: key.kid,
    key_from,
    pinned_by,
    on_chain: rpc !== undefined,
    void_checked: held.value,
  });
}

/**
 * Whether the issuer says now that a receipt holds: fails when it was taken back; false when the issuer was not asked,
 * because nothing else is asked of it, or does not say.
 */
async function isHeld(
  from: string,
  { issuer, nonprofit, id }: Receipt,
  { key_from, pins }: { key_from: string; pins: Pins },
): Promise<Result<boolean, Failure>> {
  if (from.startsWith(`${issuer}/`)) return ok(true);
  if (!key_from.startsWith(`${issuer}/`)) return ok(false);
  const path = [nonprofit.slug, id].map(encodeURIComponent).join("/");
  const text = await readSource(`${issuer}/api/donations/${path}`);
  const live = text.ok ? readReceipt(text.value) : text;
  if (!live.ok || live.value.receipt.id !== id) return ok(false);
  const found = await keyFor(live.value, pins);
  const verified = found.ok ? await verifyReceipt(live.value, found.value.key) : found;
  return !verified.ok && verified.failure.kind === "voided" ? verified : ok(verified.ok);
}

/** What vouches that a key is the right one; null when only the receipt itself does. */
function pinOf(issuer: string, key: PublicKey, pins: Pins): PinnedBy | null {
  if (pins.key !== undefined) return "--key";
  if (pins.issuer !== undefined) return "--issuer";
  if (pins.own?.key?.kid === key.kid) return "own key";
  return pins.own?.issuer === issuer ? "ALMONER_BASE_URL" : null;
}

const bytesMax = 1_048_576;
const timeoutMs = 20_000;
const isUrl = (from: string) => /^https?:\/\//.test(from);

/** The text of a file, of a URL, or of standard input (`-`). */
async function readSource(from: string): Promise<Result<string, SourceFailure>> {
  const failed = (kind: SourceFailure["kind"], why: string) => fail({ kind, from, why });
  try {
    if (from === "-") return ok(await textOf(process.stdin));
    if (!isUrl(from)) return ok(await readFile(from, "utf8"));
    const answer = await fetchPlain(from, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status === 404) return failed("unreadable", "there is none (404)");
    if (!answer.ok) return failed("unreachable", `status ${answer.status}`);
    return ok(await boundedText(answer, bytesMax));
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown";
    return failed(isUrl(from) ? "unreachable" : "unreadable", why);
  }
}

/**
 * The key that has to have signed, and where it came from: the one that is named, this directory's own, or what the
 * issuer of the receipt publishes. Of a set, the one that the signature names; of a set without it, any, so that the
 * check says which key signed.
 */
async function keyFor(
  { receipt, signed_by }: ClaimedReceipt,
  { key: named, own }: Pins,
): Promise<Result<{ key: PublicKey; from: string }, Failure>> {
  if (named !== undefined && /^[A-Za-z0-9_-]{43}$/.test(named)) {
    return ok({ key: await publicKeyOf(named), from: "--key" });
  }
  if (own?.key?.kid === signed_by) return ok({ key: own.key, from: "the data folder" });
  const from = named ?? `${receipt.issuer}/${feedPaths.keys}`;
  // What an unproven receipt names must not make this read a file.
  if (named === undefined && !isUrl(from)) return fail({ kind: "no_key", from });
  const text = await readSource(from);
  if (!text.ok) return text;
  const keys = await keysIn(text.value);
  const key = keys.find(({ kid }) => kid === signed_by) ?? keys[0];
  return key === undefined ? fail({ kind: "no_key", from }) : ok({ key, from });
}

/** A key's id is made again from the key itself: a file could say anything. */
async function keysIn(text: string): Promise<PublicKey[]> {
  try {
    const value: unknown = JSON.parse(text);
    const set = KeySet.safeParse(value);
    const keys = set.success ? set.data.keys : [PublicKey.omit({ kid: true }).parse(value)];
    return await Promise.all(keys.map(({ x }) => publicKeyOf(x)));
  } catch {
    return [];
  }
}

/** Looks the transfer of a receipt up on the chain, by a node of anyone who checks. */
async function compareWithChain(receipt: Receipt, rpcUrl: string): Promise<Result<null, Failure>> {
  const { evidence } = receipt;
  const network = donationNetworks.find((one) => networks[one].cluster === evidence.cluster);
  const opened = await openChain({
    network: network ?? "local",
    rpcUrls: [rpcUrl],
    sponsorKey: null,
    commitment: "confirmed",
    clock: () => new Date(),
  });
  if (!opened.ok) return fail({ kind: "wrong_chain", why: opened.failure.message });
  const landed = await opened.value.landed(evidence.tx_signature);
  if (!landed.ok) return fail({ kind: "unreachable", from: rpcUrl, why: landed.failure.why });
  if (landed.value === null) {
    return fail({ kind: "not_on_chain", tx_signature: evidence.tx_signature });
  }
  for (const [what, said, shown] of factsOf(receipt, landed.value, opened.value)) {
    const [inReceipt, onChain] = [String(said), String(shown)];
    if (inReceipt !== onChain) {
      return fail({ kind: "chain_disagrees", what, receipt: inReceipt, chain: onChain });
    }
  }
  return ok(null);
}

/** What the chain shows of a transfer that is not in the transaction. */
const noCredit = { mint: "none", owner: "none", amount_micro_usdc: 0n, donor: null, source: null };

/** What the receipt says beside what the chain shows. */
function factsOf(
  { evidence, amount_atomic, amount_usdc, settled_at }: Receipt,
  { slot, failed, block_time, credits, memos }: Landed,
  { mint, caip2 }: { mint: string; caip2: string },
): [what: string, said: unknown, shown: unknown][] {
  const { memo, source, destination } = evidence;
  const credit = credits.find((one) => one.destination === destination) ?? noCredit;
  const shownMemo = memo === null || memos.includes(memo) ? memo : memos.join(", ");
  const seconds = Date.parse(settled_at) / 1_000;
  const offered = offeredCaip2Of(evidence.cluster, caip2);
  return [
    // Older receipts of the local chain name it by its own id.
    ["chain", evidence.network, evidence.network === caip2 ? caip2 : offered],
    ["failed", false, failed],
    ["slot", evidence.slot, slot],
    ["mint", evidence.mint, mint],
    ["token of the transfer", evidence.mint, credit.mint],
    ["recipient", evidence.recipient, credit.owner],
    ["amount_atomic", amount_atomic, credit.amount_micro_usdc],
    ["amount_usdc", amount_usdc, Number(credit.amount_micro_usdc) / 1_000_000],
    ["donor", evidence.donor, credit.donor],
    // A receipt may be older than the knowledge of its source.
    ["source", source, source == null ? source : credit.source],
    ["memo", memo, shownMemo],
    ["settled_at", seconds, block_time ?? seconds],
  ];
}
