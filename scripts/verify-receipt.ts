import { defineCommand } from "citty";
import { existingSigningKeyOf } from "#api/secrets.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import {
  checkReceipt,
  type Checked,
  type Failure,
  type PinnedBy,
  type Pins,
} from "./verify-receipt/check.ts";
import { runCommand } from "./support/command.ts";
import { configOrExit, stopWith } from "./support/config.ts";

const command = defineCommand({
  meta: {
    name: "verify-receipt",
    description:
      "Checks the receipt of a donation: that the directory you name signed it and nothing was altered. Anyone can sign " +
      "receipts as an issuer of their own: name the directory by --issuer or its key by --key. Without either, only this " +
      "directory's own receipts are valid (ALMONER_BASE_URL, or the signing key in the data folder). With a file and --key " +
      "it uses no network, and cannot know whether the receipt was taken back since it was saved. Exit code 0: valid, 1: not valid, 2: nothing that can be checked, 3: cannot be checked now.",
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
    issuer: {
      type: "string",
      description:
        "Origin of the directory that has to have issued it, like https://almoner.example",
    },
    rpc: {
      type: "string",
      description: "URL of a Solana RPC node, to check the transfer on chain too",
    },
    json: { type: "boolean", description: "One JSON object on standard output" },
  },
  run: async ({ args }) => {
    const outcome = await checkReceipt(args.receipt, await pinsOf(args), args.rpc);
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

async function pinsOf({ key, issuer }: Pick<Pins, "key" | "issuer">): Promise<Pins> {
  if (issuer !== undefined && !URL.canParse(issuer)) {
    stopWith("--issuer: give the directory's origin, like https://almoner.example.", 2);
  }
  if (issuer !== undefined) return { key, issuer: new URL(issuer).origin, own: null };
  if (key !== undefined) return { key, own: null };
  const config = configOrExit({ opens: false });
  const pem = existingSigningKeyOf(config);
  const ownKey = pem === null ? null : (await openSigner(pem)).publicKey;
  return { own: { issuer: config.baseUrl, key: ownKey } };
}

/** How the key of a valid receipt is known to be the right one. */
const pinWords: Record<PinnedBy, string> = {
  "--key": "the key that --key names",
  "--issuer": "the issuer that --issuer names",
  ALMONER_BASE_URL: "the issuer that ALMONER_BASE_URL names",
  "own key": "this directory's own key",
};

function show({
  receipt,
  issuer,
  signed_by,
  key_from,
  pinned_by,
  on_chain,
  void_checked,
}: Checked): void {
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
    ["issued by", printable(issuer)],
    ["key", `${signed_by} from ${key_from}`],
    [
      "taken back",
      void_checked
        ? "no, says the issuer"
        : "not checked: a saved copy does not know it (use --issuer, or the receipt's URL)",
    ],
    ["chain", on_chain ? "checked: the transfer matches" : "not checked (use --rpc URL)"],
  ];
  console.log(
    `VALID: signed by ${printable(issuer)}'s key ${signed_by} (${pinWords[pinned_by]}), and nothing was altered.\n`,
  );
  for (const [name, value] of lines) console.log(`  ${name.padEnd(12)} ${value}`);
}

/** Names come from third parties: nothing in them may move a terminal's cursor. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\uFFFD");

/** Source: the description of the command. */
const exitCodes: Record<Failure["kind"], number> = {
  altered: 1,
  wrong_key: 1,
  other_issuer: 1,
  voided: 1,
  not_pinned: 1,
  chain_disagrees: 1,
  not_on_chain: 1,
  not_a_receipt: 2,
  unreadable: 2,
  no_key: 2,
  wrong_chain: 2,
  unreachable: 3,
};

const voidWords = {
  vanished: "the chain dropped the transaction, so the transfer never was",
  differs: "the chain holds another transaction than the receipt says",
} as const;

/** What is said of each failure. */
const words: {
  readonly [Kind in Failure["kind"]]: (failure: Failure & { kind: Kind }) => string;
} = {
  altered: () =>
    "NOT VALID: the receipt was altered after the directory signed it, or it never signed it.",
  wrong_key: (failure) =>
    `NOT VALID BY THIS KEY: the receipt says that ${failure.signed_by} signed it, and the key is ${failure.key}. The directory may have another key now: fetch the receipt again, or give the key of that time.`,
  voided: (failure) =>
    `VOIDED: the directory signed this receipt, and took it back at ${failure.voided_at}: ${voidWords[failure.reason]}.`,
  other_issuer: (failure) =>
    `NOT VALID: ${failure.issuer} issued this receipt, and not ${failure.expected}.`,
  not_pinned: (failure) =>
    `signed by ${failure.issuer}'s key ${failure.signed_by}, which you did not pin: NOT VERIFIED. Anyone can publish a key and sign receipts with it. If this is the directory you mean, add --issuer ${failure.issuer}, or --key with a key that you have from elsewhere.`,
  chain_disagrees: (failure) =>
    `NOT VALID: for ${failure.what} the receipt says ${failure.receipt}, but the chain shows ${failure.chain}.`,
  not_on_chain: (failure) =>
    `NOT VALID: this node does not know transaction ${failure.tx_signature}. A node that keeps the whole history may know it.`,
  not_a_receipt: (failure) => `This is not a receipt of a donation: ${failure.why}.`,
  unreadable: (failure) => `${failure.from} cannot be read: ${failure.why}.`,
  no_key: (failure) => `${failure.from} holds no Ed25519 public key as JWK or JWK set.`,
  wrong_chain: (failure) => `The node cannot be used: ${failure.why}.`,
  unreachable: (failure) => `${failure.from} does not answer: ${failure.why}. Try again later.`,
};

const wordsOf = (failure: Failure): string =>
  (words[failure.kind] as (given: Failure) => string)(failure);

await runCommand(command);
