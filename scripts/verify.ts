import { statSync } from "node:fs";
import { openChain } from "#api/chain/open-chain.ts";
import { existingSigningKeyOf } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";
import type { Receipt } from "#content/contract/donation.ts";
import { feedPaths } from "#content/contract/feed.ts";
import { donationNetworks, type TransactionFacts } from "#content/contract/transfer.ts";
import { openSigner, type PublicKey } from "#content/feed/signing-keys.ts";
import { networks, offeredCaip2Of } from "#content/giving/network.ts";
import {
  type ClaimedReceipt,
  readReceipt,
  type ReceiptFailure,
  verifyReceipt,
} from "#content/giving/receipt.ts";
import { flag, positional, runCommand, textOption, wordedCommand } from "./support/command.ts";
import { configOrExit, stopWith } from "./support/config.ts";
import { addressesOf, compareCopy, type ListPins, type SignedList } from "./verify/directory.ts";
import { isUrl, Unproven, isKey, keysNamed, noKey, readBytes, textOf } from "./verify/source.ts";

const args = {
  target: positional,
  list: flag,
  after: textOption,
  key: textOption,
  issuer: textOption,
  rpc: textOption,
  json: flag,
} as const;

const uses = {
  "the list of a directory": ["list", "after", "key"],
  "a copy": ["after", "key", "json"],
  "a receipt": ["key", "issuer", "rpc", "json"],
} as const;

export const command = wordedCommand("verify", {
  args,
  run: async ({ args: { target, list, after, key, issuer, rpc, json } }) => {
    const use = useOf(target, list === true);
    const allowedNames: readonly string[] = uses[use];
    for (const [name, value] of Object.entries({ list, after, key, issuer, rpc, json })) {
      const isMisplaced = value !== undefined && value !== false && !allowedNames.includes(name);
      if (isMisplaced)
        stopWith(`--${name} is not for ${use}; its options are ${optionsOf(use)}.`, 2);
    }
    const pins = { key, after, now: systemClock() };
    try {
      if (use === "the list of a directory") await printList(target, pins);
      else if (use === "a copy") showCopy(await compareCopy(target, pins), json === true);
      else
        showReceipt(await checkReceipt(target, await pinsOf({ key, issuer }), rpc), json === true);
    } catch (error) {
      if (!(error instanceof Unproven)) throw error;
      const { kind, details, exitCode } = error;
      const message = printable(error.message);
      const verdict = use === "a receipt" ? { valid: false } : { whole: false };
      if (json === true) console.log(JSON.stringify({ ...verdict, kind, ...details, message }));
      else console.error(message);
      process.exitCode = exitCode;
    }
  },
});

type Use = keyof typeof uses;

const optionsOf = (use: Use): string => uses[use].map((name) => `--${name}`).join(", ");

function useOf(target: string, list: boolean): Use {
  if (isUrl(target)) return list ? "the list of a directory" : "a receipt";
  if (list)
    stopWith("--list: give the URL of a published directory, like https://almoner.example.", 2);
  if (target === "-") return "a receipt";
  const stat = statSync(target, { throwIfNoEntry: false });
  if (stat !== undefined) return stat.isDirectory() ? "a copy" : "a receipt";
  return stopWith(
    `${target} cannot be read: there is none. Give a folder with a copy of a directory, the receipt of a donation (a file, its URL, or -), or a directory's URL with --list.`,
    2,
  );
}

async function pinsOf({ key, issuer }: Pick<ReceiptPins, "key" | "issuer">): Promise<ReceiptPins> {
  if (issuer !== undefined && !URL.canParse(issuer)) {
    stopWith("--issuer: give the directory's origin, like https://almoner.example.", 2);
  }
  if (issuer !== undefined) return { key, issuer: new URL(issuer).origin, directory: null };
  if (key !== undefined) return { key, directory: null };
  const config = configOrExit({ opens: false });
  const pem = existingSigningKeyOf(config);
  const ownKey = pem === null ? null : (await openSigner(pem)).publicKey;
  return { directory: { issuer: config.baseUrl, key: ownKey } };
}

/** Prints addresses only after every part of the list was checked. */
async function printList(url: string, pins: ListPins): Promise<void> {
  const { list, addresses } = await addressesOf(url, pins);
  console.log(addresses.join("\n"));
  console.error(describeList(list));
}

const describeList = ({ manifest: { files, bytes, issue }, key, pinned }: SignedList): string =>
  `${files.toLocaleString("en")} files, ${(bytes / 1e6).toFixed(1)} MB; list ${issue.sequence}, valid until ${issue.expires_at}, signed by key ${key.kid}` +
  (pinned
    ? "."
    : ", which only the directory itself names: compare it with what its operator says.");

const pathsShownMax = 20;

function showCopy(comparison: Awaited<ReturnType<typeof compareCopy>>, json: boolean): void {
  const { list, ...states } = comparison;
  const faults = Object.entries(states).filter(([, paths]) => paths.length > 0);
  const isWhole = faults.length === 0;
  if (!isWhole) process.exitCode = 1;
  const { manifest, key, pinned } = list;
  const answer = { whole: isWhole, ...states, ...manifest.issue, signed_by: key.kid, pinned };
  if (json) return console.log(JSON.stringify(answer));
  if (isWhole) return console.log(`WHOLE: ${describeList(list)}`);
  for (const [state, paths] of faults) {
    const more = paths.length > pathsShownMax ? ", …" : "";
    const examples = paths.slice(0, pathsShownMax).map(printable).join(", ");
    console.error(`NOT WHOLE: ${paths.length} ${state}: ${examples}${more}`);
  }
}

function showReceipt(result: Awaited<ReturnType<typeof checkReceipt>>, json: boolean): void {
  if (json) return console.log(JSON.stringify({ valid: true, ...result }));
  const { receipt, issuer, signed_by, key_from, pinned_by, on_chain, void_checked } = result;
  const { nonprofit, evidence } = receipt;
  const lines = [
    `VALID: signed by ${issuer}'s key ${signed_by} from ${key_from} (pinned by ${pinned_by}), and nothing was altered.`,
    `${receipt.amount_usdc} ${receipt.currency} to ${nonprofit.name} (${nonprofit.slug}) on ${evidence.cluster}${evidence.cluster === "mainnet" ? "" : ": NO REAL MONEY"}`,
    `taken back: ${void_checked ? "no, says the issuer" : "not checked: a saved copy does not know it (use --issuer, or the receipt's URL)"}`,
    `chain: ${on_chain ? "checked: the transfer matches" : "not checked (use --rpc URL)"}`,
    ...JSON.stringify(receipt, null, 2).split("\n"),
  ];
  for (const line of lines) console.log(printable(line));
}

/** Names come from third parties and must not move the terminal's cursor. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\uFFFD");
}

/** The expected signer of a receipt; by default that of this directory's settings. */
export type ReceiptPins = {
  /** A key, or the place of one. */
  key?: string | undefined;
  /** Origin of the directory that must have issued the receipt. */
  issuer?: string | undefined;
  /** Origin and signing key (null for none) of this directory. Null when a key or an issuer is named. */
  directory: { issuer: string; key: PublicKey | null } | null;
};

/** Checks a receipt. `from` is a file, a URL or "-"; `pins` its expected signer; `rpc` a node to compare it with. */
export async function checkReceipt(from: string, pins: ReceiptPins, rpc?: string) {
  const claim = readClaim(textOf(await readBytes(from)));
  const { issuer } = claim.receipt;
  if (pins.issuer !== undefined && pins.issuer !== issuer) {
    const words = `NOT VALID: ${issuer} issued this receipt, and not ${pins.issuer}.`;
    throw new Unproven("other_issuer", 1, words, { issuer, expected: pins.issuer });
  }
  const { key, key_from } = await keyFor(claim, pins);
  const receipt = await provenBy(claim, key);
  const pinned_by = pinOf(issuer, key, pins);
  if (pinned_by === null) {
    const words = `signed by ${issuer}'s key ${key.kid}, which you did not pin: NOT VERIFIED. Anyone can publish a key and sign receipts with it. If this is the directory you mean, add --issuer ${issuer}, or --key with a key that you have from elsewhere.`;
    throw new Unproven("not_pinned", 1, words, { issuer, signed_by: key.kid });
  }
  // Whether the issuer confirms it now: a saved copy does not know that it was taken back.
  const void_checked =
    from.startsWith(`${issuer}/`) ||
    (key_from.startsWith(`${issuer}/`) && (await isHeld(receipt, pins)));
  if (rpc !== undefined) await compareWithChain(receipt, rpc);
  const on_chain = rpc !== undefined;
  return { receipt, issuer, signed_by: key.kid, key_from, pinned_by, on_chain, void_checked };
}

function readClaim(text: string): ClaimedReceipt {
  const result = readReceipt(text);
  return result.ok ? result.value : refuse(result.failure);
}

async function provenBy(claim: ClaimedReceipt, key: PublicKey): Promise<Receipt> {
  const result = await verifyReceipt(claim, key);
  return result.ok ? result.value : refuse(result.failure);
}

function refuse(failure: ReceiptFailure): never {
  const { kind, ...details } = failure;
  const exitCode = kind === "not_a_receipt" ? 2 : 1;
  throw new Unproven(kind, exitCode, wordsOf(failure), details);
}

function wordsOf(failure: ReceiptFailure): string {
  switch (failure.kind) {
    case "not_a_receipt":
      return `This is not a receipt of a donation: ${failure.why}. For a directory at an address add --list.`;
    case "wrong_key":
      return `NOT VALID BY THIS KEY: the receipt says that ${failure.signed_by} signed it, and the key is ${failure.key}. The directory may have another key now: fetch the receipt again, or give the key of that time.`;
    case "voided":
      return `VOIDED: the directory signed this receipt, and took it back at ${failure.voided_at}: ${voidWords[failure.reason]}.`;
    case "altered":
    default:
      return "NOT VALID: the receipt was altered after the directory signed it, or it never signed it.";
  }
}

const voidWords = {
  vanished: "the chain dropped the transaction, so the transfer never was",
  differs: "the chain holds another transaction than the receipt says",
} as const;

/** Asks the issuer for the live receipt. Throws if it was taken back; false when the issuer does not say. */
async function isHeld({ issuer, nonprofit, id }: Receipt, pins: ReceiptPins): Promise<boolean> {
  const path = [nonprofit.slug, id].map(encodeURIComponent).join("/");
  try {
    const live = readClaim(textOf(await readBytes(`${issuer}/api/donations/${path}`)));
    if (live.receipt.id !== id) return false;
    await provenBy(live, (await keyFor(live, pins)).key);
    return true;
  } catch (error) {
    if (error instanceof Unproven && error.kind !== "voided") return false;
    throw error;
  }
}

/** What vouches for a key; null when only the receipt itself does. */
function pinOf(issuer: string, key: PublicKey, pins: ReceiptPins): string | null {
  if (pins.key !== undefined) return "--key";
  if (pins.issuer !== undefined) return "--issuer";
  if (pins.directory?.key?.kid === key.kid) return "own key";
  return pins.directory?.issuer === issuer ? "ALMONER_BASE_URL" : null;
}

/**
 * The key that must have signed, and its source: the named one, this directory's own, or one that the issuer publishes. A
 * key that is named by its id is looked up there, too. Of a key set, the one that the signature names; if the set lacks it,
 * any, so that the check says which key signed.
 */
async function keyFor(
  { receipt, signed_by }: ClaimedReceipt,
  { key: keyPin, directory }: ReceiptPins,
) {
  if (directory?.key?.kid === signed_by) return { key: directory.key, key_from: "the data folder" };
  const isPublished = keyPin === undefined || keyPin === signed_by;
  const from = isPublished ? `${receipt.issuer}/${feedPaths.keys}` : keyPin;
  // An unproven receipt must not make this command read a file.
  const keys = isPublished && !isUrl(from) ? [] : await keysNamed(from);
  const key = keys.find(({ kid }) => kid === signed_by) ?? keys[0];
  if (key !== undefined) return { key, key_from: isKey(from) ? "--key" : from };
  throw noKey(from);
}

/** Compares a receipt with the transfer on the chain, through a node that the user chose. */
async function compareWithChain(receipt: Receipt, rpcUrl: string): Promise<void> {
  const { cluster, tx_signature } = receipt.evidence;
  const chain = await openChain({
    network: donationNetworks.find((name) => networks[name].cluster === cluster) ?? "local",
    rpcUrls: [rpcUrl],
    sponsorKey: null,
    commitment: "confirmed",
    clock: () => new Date(),
  });
  if (!chain.ok) {
    const why = chain.failure.message;
    throw new Unproven("wrong_chain", 2, `The node cannot be used: ${why}.`, { why });
  }
  const transaction = await chain.value.landed(tx_signature);
  if (!transaction.ok) {
    const words = `${rpcUrl} does not answer: ${transaction.failure.why}. Try again later.`;
    throw new Unproven("unreachable", 3, words, { from: rpcUrl, why: transaction.failure.why });
  }
  if (transaction.value === null) {
    const words = `NOT VALID: this node does not know transaction ${tx_signature}. A node that keeps the whole history may know it.`;
    throw new Unproven("not_on_chain", 1, words, { tx_signature });
  }
  for (const [what, claimed, shown] of factsOf(receipt, transaction.value, chain.value)) {
    const inReceipt = String(claimed);
    const onChain = String(shown);
    if (inReceipt === onChain) continue;
    const words = `NOT VALID: for ${what} the receipt says ${inReceipt}, but the chain shows ${onChain}.`;
    throw new Unproven("chain_disagrees", 1, words, { what, receipt: inReceipt, chain: onChain });
  }
}
/** Stands for a transfer that is not in the transaction. */
const noCredit = { mint: "none", owner: "none", amount_micro_usdc: 0n, donor: null, source: null };

/** The statements of the receipt beside those of the chain. */
function factsOf(
  { evidence, amount_atomic, amount_usdc, settled_at }: Receipt,
  { slot, failed, block_time, credits, memos }: TransactionFacts,
  { mint, caip2 }: { mint: string; caip2: string },
): [what: string, claimed: unknown, shown: unknown][] {
  const { memo, source, destination } = evidence;
  const credit = credits.find((candidate) => candidate.destination === destination) ?? noCredit;
  const shownMemo = memo === null || memos.includes(memo) ? memo : memos.join(", ");
  const seconds = Date.parse(settled_at) / 1_000;
  const offeredChain = offeredCaip2Of(evidence.cluster, caip2);
  return [
    // Older receipts of the local chain use its own id.
    ["chain", evidence.network, evidence.network === caip2 ? caip2 : offeredChain],
    ["failed", false, failed],
    ["slot", evidence.slot, slot],
    ["mint", evidence.mint, mint],
    ["token of the transfer", evidence.mint, credit.mint],
    ["recipient", evidence.recipient, credit.owner],
    ["amount_atomic", amount_atomic, credit.amount_micro_usdc],
    ["amount_usdc", amount_usdc, Number(credit.amount_micro_usdc) / 1_000_000],
    ["donor", evidence.donor, credit.donor],
    // An old receipt may lack the source.
    ["source", source, source == null ? source : credit.source],
    ["memo", memo, shownMemo],
    ["settled_at", seconds, block_time ?? seconds],
  ];
}

if (import.meta.main) await runCommand(command);
