import { statSync } from "node:fs";
import { existingSigningKeyOf } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { flag, positional, runCommand, textOption, wordedCommand } from "./support/command.ts";
import { configOrExit, stopWith } from "./support/config.ts";
import { addressesOf, compareCopy, type ListPins, type SignedList } from "./verify/directory.ts";
import { checkReceipt, type ReceiptPins } from "./verify/receipt.ts";
import { isUrl, Unproven } from "./verify/source.ts";

const args = {
  target: positional,
  list: flag,
  after: textOption,
  key: textOption,
  issuer: textOption,
  rpc: textOption,
  json: flag,
} as const;

/** The options of each use. */
const uses = {
  "the list of a directory": ["list", "after", "key"],
  "a copy": ["after", "key", "json"],
  "a receipt": ["key", "issuer", "rpc", "json"],
} as const;

export const command = wordedCommand("verify", {
  args,
  run: async ({ args: { target, list, after, key, issuer, rpc, json } }) => {
    const use = useOf(target, list === true);
    const allowed: readonly string[] = uses[use];
    for (const [name, value] of Object.entries({ list, after, key, issuer, rpc, json })) {
      const isMisplaced = value !== undefined && value !== false && !allowed.includes(name);
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
  if (issuer !== undefined) return { key, issuer: new URL(issuer).origin, own: null };
  if (key !== undefined) return { key, own: null };
  const config = configOrExit({ opens: false });
  const pem = existingSigningKeyOf(config);
  const ownKey = pem === null ? null : (await openSigner(pem)).publicKey;
  return { own: { issuer: config.baseUrl, key: ownKey } };
}

/** Prints nothing before every part of the list is checked. */
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

function showCopy(compared: Awaited<ReturnType<typeof compareCopy>>, json: boolean): void {
  const { list, ...states } = compared;
  const wrong = Object.entries(states).filter(([, paths]) => paths.length > 0);
  const whole = wrong.length === 0;
  if (!whole) process.exitCode = 1;
  const { manifest, key, pinned } = list;
  const answer = { whole, ...states, ...manifest.issue, signed_by: key.kid, pinned };
  if (json) return console.log(JSON.stringify(answer));
  if (whole) return console.log(`WHOLE: ${describeList(list)}`);
  for (const [state, paths] of wrong) {
    const more = paths.length > pathsShownMax ? ", …" : "";
    const shown = paths.slice(0, pathsShownMax).map(printable).join(", ");
    console.error(`NOT WHOLE: ${paths.length} ${state}: ${shown}${more}`);
  }
}

function showReceipt(checked: Awaited<ReturnType<typeof checkReceipt>>, json: boolean): void {
  if (json) return console.log(JSON.stringify({ valid: true, ...checked }));
  const { receipt, issuer, signed_by, key_from, pinned_by, on_chain, void_checked } = checked;
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

/** Names come from third parties: nothing in them may move a terminal's cursor. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\uFFFD");
}

if (import.meta.main) await runCommand(command);
