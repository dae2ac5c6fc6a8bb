import { defineCommand } from "citty";
import { readReceipt, verifyReceipt } from "#content/donation/receipt.ts";
import { runCommand } from "./support/command.ts";
import { evidenceOnChain } from "./verify-receipt/chain-evidence.ts";
import { keyFor } from "./verify-receipt/public-key.ts";
import { readSource } from "./verify-receipt/source.ts";
import { type Outcome, show } from "./verify-receipt/show.ts";

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
    description: "URL of a Solana RPC node: looks the transfer up again, too",
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

await runCommand(command);
