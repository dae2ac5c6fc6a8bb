import { defineCommand } from "citty";
import { checkReceipt, type Checked, type Failure } from "./verify-receipt/check.ts";
import { runCommand } from "./support/command.ts";

const command = defineCommand({
  meta: {
    name: "verify-receipt",
    description:
      "Checks the receipt of a donation: that the directory signed it and nothing was altered; with a file and --key " +
      "it uses no network. Exit code 0: valid, 1: not valid, 2: nothing that can be checked, 3: cannot be checked now.",
  },
  args: {
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
  },
  run: async ({ args }) => {
    const outcome = await checkReceipt(args.receipt, args);
    if (outcome.ok) {
      if (args.json) console.log(JSON.stringify({ valid: true, ...outcome.value }));
      else show(outcome.value);
      return;
    }
    const { failure } = outcome;
    const message = printable(wordsOf(failure));
    process.exitCode = exitCodes[failure.kind];
    if (args.json) console.log(JSON.stringify({ valid: false, ...failure, message }));
    else console.error(message);
  },
});

function show({ receipt, signed_by, key_from, on_chain }: Checked): void {
  const { nonprofit, evidence } = receipt;
  const registered = nonprofit.registrations.map(
    (one) => `${one.country}, ${one.type} ${one.registration_number}`,
  );
  const warning = evidence.cluster === "mainnet" ? "" : ": NO REAL MONEY";
  const lines: [string, string][] = [
    ["amount", `${receipt.amount_usdc} ${receipt.currency}`],
    ["given to", `${printable(nonprofit.name)} (${nonprofit.slug})`],
    ...registered.map((one): [string, string] => ["registered", printable(one)]),
    ["given by", evidence.donor ?? "no single wallet"],
    ["received by", evidence.recipient],
    ["at", receipt.settled_at],
    ["network", `${evidence.cluster}${warning} (${evidence.network})`],
    ["transaction", evidence.tx_signature],
    ["slot", String(evidence.slot)],
    ["issued by", receipt.issuer],
    ["key", `${signed_by} from ${key_from}`],
    ["chain", on_chain ? "checked: the transfer matches" : "not checked (use --rpc URL)"],
  ];
  console.log("VALID: the directory signed this receipt, and nothing was altered.\n");
  for (const [name, value] of lines) console.log(`  ${name.padEnd(12)} ${value}`);
}

/** Names come from third parties: nothing in them may move a terminal's cursor. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\uFFFD");

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

function wordsOf(failure: Failure): string {
  switch (failure.kind) {
    case "altered":
      return "NOT VALID: the receipt was altered after the directory signed it, or it never signed it.";
    case "wrong_key":
      return `NOT VALID BY THIS KEY: the receipt says that ${failure.signed_by} signed it, and the key is ${failure.key}. The directory may have another key now: fetch the receipt again, or give the key of that time.`;
    case "chain_disagrees":
      return `NOT VALID: for ${failure.what} the receipt says ${failure.receipt}, but the chain shows ${failure.chain}.`;
    case "not_on_chain":
      return `NOT VALID: this node does not know transaction ${failure.tx_signature}. A node that keeps the whole history may know it.`;
    case "not_a_receipt":
      return `This is not a receipt of a donation: ${failure.why}.`;
    case "unreadable":
      return `${failure.from} cannot be read: ${failure.why}.`;
    case "no_key":
      return `${failure.from} holds no Ed25519 public key as JWK or JWK set.`;
    case "wrong_chain":
      return `The node cannot be used: ${failure.why}.`;
    case "unreachable":
    default:
      return `${failure.from} does not answer: ${failure.why}. Try again later.`;
  }
}

await runCommand(command);
