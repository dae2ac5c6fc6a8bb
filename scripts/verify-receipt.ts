import { defineCommand } from "citty";
import type { Receipt } from "#content/contract/donation.ts";
import type { Result } from "#content/contract/result.ts";
import { readReceipt, type ReceiptFailure, verifyReceipt } from "#content/donation/receipt.ts";
import { runCommand } from "./support/command.ts";
import { type EvidenceFailure, evidenceOnChain } from "./verify-receipt/chain-evidence.ts";
import { type KeyFailure, keyFor, readSource, type SourceFailure } from "./verify-receipt/read.ts";

const args = {
  receipt: {
    type: "positional",
    required: true,
    description: "A file, a URL (as receipt_url gives it), or - for standard input",
  },
  key: {
    type: "string",
    description:
      "The directory's public key: x of its JWK, or a file or URL with the JWK or the JWK set; without it, the keys that the issuer publishes are fetched",
  },
  rpc: {
    type: "string",
    description: "URL of a Solana RPC node, to check the transfer on chain too",
  },
  json: { type: "boolean", description: "One JSON object on standard output" },
} as const;

const command = defineCommand({
  meta: {
    name: "verify-receipt",
    description:
      "Checks the receipt of a donation: that the directory signed it and nothing was altered; with a file and --key " +
      "it uses no network. Exit code 0: valid, 1: not valid, 2: nothing that can be checked, 3: cannot be checked now.",
  },
  args,
  run: async ({ args: asked }) => {
    const outcome = await check(asked.receipt, asked);
    show(outcome, asked.json === true);
  },
});

async function check(
  from: string,
  { key: named, rpc }: { key?: string | undefined; rpc?: string | undefined },
): Promise<Outcome> {
  const text = await readSource(from);
  if (!text.ok) return text;
  const claimed = readReceipt(text.value);
  if (!claimed.ok) return claimed;
  const key = await keyFor(claimed.value, named);
  if (!key.ok) return key;
  const verified = await verifyReceipt(claimed.value, key.value.key);
  if (!verified.ok) return verified;
  const receipt = verified.value;
  if (rpc !== undefined) {
    const found = await evidenceOnChain(receipt, rpc);
    if (!found.ok) return found;
  }
  const { key: by, from: keyFrom } = key.value;
  return {
    ok: true,
    value: { receipt, signed_by: by.kid, key_from: keyFrom, on_chain: rpc !== undefined },
  };
}

type Failure = SourceFailure | KeyFailure | ReceiptFailure | EvidenceFailure;

type Outcome = Result<
  {
    receipt: Receipt;
    signed_by: string;
    key_from: string;
    /** Whether the chain was asked as well. */
    on_chain: boolean;
  },
  Failure
>;

/** Source: the description of the command. */
const exitCodes: Record<Failure["kind"], number> = {
  altered: 1,
  wrong_key: 1,
  chain_disagrees: 1,
  not_on_chain: 1,
  not_a_receipt: 2,
  unreadable: 2,
  no_key: 2,
  wrong_chain: 2,
  unreachable: 3,
};

/** Says what came of a check, and sets the exit code. */
function show(outcome: Outcome, json: boolean): void {
  if (!outcome.ok) process.exitCode = exitCodes[outcome.failure.kind];
  if (json) {
    const told = outcome.ok
      ? outcome.value
      : { ...outcome.failure, message: wordsOf(outcome.failure) };
    return console.log(JSON.stringify({ valid: outcome.ok, ...told }));
  }
  if (!outcome.ok) return console.error(wordsOf(outcome.failure));
  const { receipt, signed_by, key_from, on_chain } = outcome.value;
  const { nonprofit, evidence } = receipt;
  const registered = nonprofit.registrations.map(
    (one) => `${one.country}, ${one.type} ${one.registration_number}`,
  );
  const lines: [string, string][] = [
    ["amount", `${receipt.amount_usdc} ${receipt.currency}`],
    ["given to", `${printable(nonprofit.name)} (${nonprofit.slug})`],
    ...registered.map((one): [string, string] => ["registered", printable(one)]),
    ["given by", evidence.donor ?? "no single wallet"],
    ["received by", evidence.recipient],
    ["at", receipt.settled_at],
    [
      "network",
      `${evidence.cluster}${evidence.cluster === "mainnet" ? "" : ": NO REAL MONEY"} (${evidence.network})`,
    ],
    ["transaction", evidence.tx_signature],
    ["slot", String(evidence.slot)],
    ["issued by", receipt.issuer],
    ["key", `${signed_by} from ${key_from}`],
    ["chain", on_chain ? "checked: the transfer matches" : "not checked (use --rpc URL)"],
  ];
  console.log(
    ["VALID: the directory signed this receipt, and nothing was altered.", ""].join("\n"),
  );
  for (const [name, value] of lines) console.log(`  ${name.padEnd(12)} ${value}`);
}

/** Names come from third parties: nothing in them may move a terminal's cursor. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "�");

const words: { [Kind in Failure["kind"]]: (failure: Extract<Failure, { kind: Kind }>) => string } =
  {
    altered: () =>
      "NOT VALID: the receipt was altered after the directory signed it, or it never signed it.",
    wrong_key: ({ signed_by, key }) =>
      `NOT VALID BY THIS KEY: the receipt says that ${signed_by} signed it, and the key is ${key}. The directory may have another key now: fetch the receipt again, or give the key of that time.`,
    chain_disagrees: ({ what, receipt, chain }) =>
      `NOT VALID: for ${what} the receipt says ${receipt}, but the chain shows ${chain}.`,
    not_on_chain: ({ tx_signature }) =>
      `NOT VALID: this node does not know transaction ${tx_signature}. A node that keeps the whole history may know it.`,
    not_a_receipt: ({ why }) => `This is not a receipt of a donation: ${why}.`,
    unreadable: ({ from, why }) => `${from} cannot be read: ${why}.`,
    no_key: ({ from }) => `${from} holds no Ed25519 public key as JWK or JWK set.`,
    wrong_chain: ({ why }) => `The node cannot be used: ${why}.`,
    unreachable: ({ from, why }) => `${from} does not answer: ${why}. Try again later.`,
  };

const wordsOf = (failure: Failure): string =>
  printable((words[failure.kind] as (failure: Failure) => string)(failure));

await runCommand(command);
