import { BadSetting, type Config } from "#api/config.ts";
import {
  existingSigningKeyOf,
  loadSecrets,
  replaceSigningKey,
  signingKeyPlace,
} from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { openSigner, type PublicKey } from "#content/feed/signing-keys.ts";
import { noteSigningKeys, signingKeys } from "#content/feed/store.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import { flag, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore } from "./support/config.ts";
import { operator } from "./support/operator-api.ts";

export const command = wordedCommand("rotate-key", {
  args: {
    compromised: flag,
    operator,
  },
  run: async ({ args }) => {
    const config = configOrExit();
    using store = await openExistingStore(config, { busyWaitMs: 30_000 });
    const stored = await signingKeys(store);
    const placed = await keyOf(existingSigningKeyOf(config));
    // Links that organisations hold use a key derived from the first signing key. Store it before that key changes.
    if (placed !== null) loadSecrets(config);
    const before = stored[0] ?? placed;
    const next = await nextKey(config, { before, placed });
    const compromised = args.compromised === true;
    const older = before === null || compromised ? stored.slice(1) : [before, ...stored.slice(1)];
    const keys = [next, ...older.filter(({ kid }) => kid !== next.kid)];
    const now = systemClock();
    const detail = { before: before?.kid ?? null, compromised };
    await store.write(async (tx) => {
      await noteSigningKeys(tx, keys, now);
      const did = { operator: args.operator, action: "signing_key.rotated", subject: next.kid };
      await logOperator(tx, { ...did, detail, at: now.getTime() });
    });
    console.log(
      `${signingKeyPlace(config)} holds the key ${next.kid}: restart the service and the publisher to sign with it.`,
    );
    if (before !== null) console.log(compromised ? forgotten(before) : keptMessage(before));
    console.log(
      "Copies are refused until their keepers name the new key (bun run verify --key). Tell them its id.",
    );
  },
});

const keyOf = async (pem: string | null): Promise<PublicKey | null> =>
  pem === null ? null : (await openSigner(pem)).publicKey;

/** The key that the operator has put in place of the one in use, or a new one. */
async function nextKey(
  config: Config,
  { before, placed }: { before: PublicKey | null; placed: PublicKey | null },
): Promise<PublicKey> {
  if (placed !== null && placed.kid !== before?.kid) return placed;
  if (config.signingKey === undefined) {
    return (await openSigner(replaceSigningKey(config))).publicKey;
  }
  throw new BadSetting(
    "ALMONER_SIGNING_KEY holds the key in use: set it to the new one (`openssl genpkey -algorithm ed25519`), then run this again.",
  );
}

const keptMessage = ({ kid }: PublicKey): string =>
  `The public key ${kid} stays in /.well-known/almoner-keys.json: what it signed stays valid.`;

const forgotten = ({ kid }: PublicKey): string =>
  `The key ${kid} is no longer published: receipts that it signed have to be fetched again.`;

if (import.meta.main) await runCommand(command);
