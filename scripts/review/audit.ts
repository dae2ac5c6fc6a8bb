import { flag, print, textOption, wordedCommand } from "#scripts/support/command.ts";
import type { Config } from "#api/config.ts";
import { existingSigningKeyOf } from "#api/secrets.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { feedPaths } from "#content/contract/feed.ts";
import {
  isSignatureOf,
  keyIdOf,
  openSigner,
  type PublicKey,
  publicKeyOf,
} from "#content/feed/signing-keys.ts";
import { signingKeys } from "#content/feed/store.ts";
import {
  type AuditFault,
  type AuditHead,
  AuditHeads,
  auditHeadsFact,
  missingTriggers,
  signedTextOf,
  uncovered,
  verifyAudit,
} from "#content/operation/audit-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import type { Store } from "#content/store/open.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { bundleExists, openManifest, publisherFolders } from "#site/bundle/manifest.ts";
import { configOrExit, openExistingStore, stopWith } from "#scripts/support/config.ts";
import { readBytes, textOf, type Unproven } from "#scripts/verify/source.ts";

/** A head is made each day, so every older entry has one. */
const headWithinMs = 2 * 86_400_000;

/** `review audit`: reads the store itself, because the service may have been changed together with the log. */
export const audit = wordedCommand("review audit", {
  args: {
    verify: flag,
    heads: textOption,
    key: textOption,
    json: flag,
  },
  run: async ({ args }) => {
    if (args.verify !== true)
      stopWith("review audit: give --verify. The log itself: review log.", 2);
    const config = configOrExit({ opens: false });
    using store = await openExistingStore(config);
    const keys = await keysFrom(config, store, args.key);
    const outcome = await verified(store, { config, keys, copy: args.heads });
    const ok = outcome.faults.length === 0;
    if (!ok) process.exitCode = 1;
    print(args, { ok, ...outcome }, ({ faults, entries, hash, heads, other_keys }) => [
      ...faults.map(({ id, problem }) => (id === 0 ? `${problem}.` : `Entry ${id} ${problem}.`)),
      `${ok ? "The log is as it was written" : "THE LOG CANNOT BE TRUSTED"}: ${entries} entries, head ${hash || "none"}, compared with ${heads} published heads.`,
      ...(other_keys.length === 0
        ? []
        : [
            `Signed by another key: ${other_keys.join(", ")}. Name an older key of yours with --key, by its id, or a copy of the heads with --heads.`,
          ]),
    ]);
  },
});

type AuditCheck = { config: Config; keys: readonly PublicKey[]; copy: string | undefined };

async function verified(store: Store, { config, keys, copy }: AuditCheck) {
  const stored = await directoryFact(store, auditHeadsFact);
  const published = publishedHeads(config);
  const ours = [
    ...headsFrom(stored ?? '{"heads":[]}', "the store"),
    ...(published === null ? [] : headsFrom(published, `/${feedPaths.audit}`)),
  ];
  const copied = copy === undefined ? [] : headsFrom(await textAt(copy), copy);
  const heads = [...ours, ...copied];
  const { signed, faults, otherKeys } = await checkSignatures(heads, keys);
  // An operator who names a copy vouches for it.
  const trusted = copy === undefined ? signed : heads;
  if (copy === undefined && otherKeys.length > 0) {
    faults.push({ id: 0, problem: "Heads are signed by a key that was not named" });
  }
  for (const name of await missingTriggers(store)) {
    faults.push({ id: 0, problem: `The trigger ${name} is missing` });
  }
  const beforeMs = Date.now() - headWithinMs;
  const loose = await uncovered(store, { heads: trusted, beforeMs });
  if (loose !== null) {
    faults.push({ id: loose, problem: "is older than two days, and no published head covers it" });
  }
  const { faults: broken, ...log } = await verifyAudit(store, heads);
  return {
    ...log,
    heads: new Set(trusted.map(({ day, hash }) => `${day} ${hash}`)).size,
    other_keys: otherKeys,
    faults: [...broken, ...faults],
  };
}

/** The keys that were named, or the one in use; none if there is none. */
async function keysFrom(
  config: Config,
  store: Store,
  named: string | undefined,
): Promise<PublicKey[]> {
  if (named === undefined) {
    const pem = existingSigningKeyOf(config);
    return pem === null ? [] : [(await openSigner(pem)).publicKey];
  }
  // Ids are computed, because the store may have been changed together with the log.
  const ownKeys = await Promise.all((await signingKeys(store)).map(({ x }) => publicKeyOf(x)));
  const keyOf = (name: string) => publicKeyOf(ownKeys.find(({ kid }) => kid === name)?.x ?? name);
  return Promise.all(named.split(",").map(keyOf)).catch(() =>
    stopWith("--key: give ids of keys, or the x of their JWKs: 43 characters each.", 2),
  );
}

/** The heads in the current release; null before there is one. */
function publishedHeads({ dataDir }: Config): string | null {
  const { bundle } = publisherFolders(dataDir);
  if (!bundleExists(bundle)) return null;
  using manifest = openManifest(bundle, { readonly: true });
  const file = manifest.find(feedPaths.audit);
  return file && (openBlobs(manifest).find(file.digest)?.toString() ?? null);
}

const headsFrom = (text: string, from: string): AuditHead[] =>
  AuditHeads.safeParse(objectIn(text)).data?.heads ??
  stopWith(`${from}: these are no heads of an audit log.`, 2);

/** A head takes some 400 bytes a day, so this is enough for a century. */
const headsBytesMax = 16_777_216;

const textAt = (place: string): Promise<string> =>
  readBytes(place, headsBytesMax).then(textOf, ({ message }: Unproven) =>
    stopWith(`--heads: ${message}`, 2),
  );

/** The heads signed by these keys. A head that names one of them with a false signature is forged; others are listed. */
async function checkSignatures(heads: readonly AuditHead[], keys: readonly PublicKey[]) {
  const signed: AuditHead[] = [];
  const faults: AuditFault[] = [];
  const otherKeys = new Set<string>();
  for (const head of heads) {
    const signedBy = keyIdOf(head.jws) ?? "no key";
    const key = keys.find(({ kid }) => kid === signedBy);
    const text = new TextEncoder().encode(signedTextOf(head));
    if (key === undefined) otherKeys.add(signedBy);
    else if (await isSignatureOf(head.jws, text, key)) signed.push(head);
    else {
      const problem = `has a head of ${head.day} with a false signature`;
      faults.push({ id: head.entries, problem });
    }
  }
  return { signed, faults, otherKeys: [...otherKeys] };
}
