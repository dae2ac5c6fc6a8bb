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
    if (!outcome.ok) process.exitCode = explanations[outcome.failure.kind].exitCode;
    if (args.json) {
      const shown = outcome.ok
        ? outcome.value
        : { ...outcome.failure, message: wordsOf(outcome.failure) };
      console.log(JSON.stringify({ valid: outcome.ok, ...shown }));
    } else if (outcome.ok) show(outcome.value);
    else console.error(wordsOf(outcome.failure));
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

/** Source of the exit codes: the description of the command. */
const explanations: {
  [Kind in Failure["kind"]]: {
    exitCode: number;
    words: (failure: Extract<Failure, { kind: Kind }>) => string;
  };
} = {
  altered: {
    exitCode: 1,
    words: () =>
      "NOT VALID: the receipt was altered after the directory signed it, or it never signed it.",
  },
  wrong_key: {
    exitCode: 1,
    words: ({ signed_by, key }) =>
      `NOT VALID BY THIS KEY: the receipt says that ${signed_by} signed it, and the key is ${key}. The directory may have another key now: fetch the receipt again, or give the key of that time.`,
  },
  chain_disagrees: {
    exitCode: 1,
    words: ({ what, receipt, chain }) =>
      `NOT VALID: for ${what} the receipt says ${receipt}, but the chain shows ${chain}.`,
  },
  not_on_chain: {
    exitCode: 1,
    words: ({ tx_signature }) =>
      `NOT VALID: this node does not know transaction ${tx_signature}. A node that keeps the whole history may know it.`,
  },
  not_a_receipt: {
    exitCode: 2,
    words: ({ why }) => `This is not a receipt of a donation: ${why}.`,
  },
  unreadable: { exitCode: 2, words: ({ from, why }) => `${from} cannot be read: ${why}.` },
  no_key: {
    exitCode: 2,
    words: ({ from }) => `${from} holds no Ed25519 public key as JWK or JWK set.`,
  },
  wrong_chain: { exitCode: 2, words: ({ why }) => `The node cannot be used: ${why}.` },
  unreachable: {
    exitCode: 3,
    words: ({ from, why }) => `${from} does not answer: ${why}. Try again later.`,
  },
};

function wordsOf(failure: Failure): string {
  const { words } = explanations[failure.kind] as { words: (failure: Failure) => string };
  return printable(words(failure));
}

await runCommand(command);
