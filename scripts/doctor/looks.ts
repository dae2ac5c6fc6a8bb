import { sha256Of } from "#content/runtime/digest.ts";
import {
  rmSync,
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { openChain } from "#api/chain/open-chain.ts";
import type { Config } from "#api/config.ts";
import { chainHealth } from "#api/operator/health.ts";
import { findService } from "#api/operator/running-service.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { findingsOf } from "#content/operation/checks.ts";
import { storedHeads, verifyAudit } from "#content/operation/audit-store.ts";
import { storeAddress, type Store } from "#content/store/open.ts";
import { readPart } from "#scripts/backup/bring-back.ts";
import { DamagedBackup, manifestOf, openPlace } from "#scripts/backup/place.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import {
  bundleExists,
  isManifestDamaged,
  openManifest,
  type NewFile,
  publisherFolders,
} from "#site/bundle/manifest.ts";
import { readCompiled } from "#site/renderer/compile.ts";

/** What only the user of the service may read. */
export function privatePaths({ dataDir, databaseUrl }: Config): string[] {
  const secrets = join(dataDir, "secrets");
  const names = existsSync(secrets) ? readdirSync(secrets) : [];
  const store = databaseUrl.startsWith("file:") ? [storeAddress(databaseUrl)] : [];
  return [dataDir, ...store, secrets, ...names.map((name) => join(secrets, name))].filter(
    existsSync,
  );
}

/** Paths below the data folder that are another user's than the folder: a command that root ran leaves some. */
export function* foreignPaths(folder: string, owner = statSync(folder).uid): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // What goes meanwhile is nobody's, and `lost+found` is the disk's.
    const uid = lstatSync(path, { throwIfNoEntry: false })?.uid ?? owner;
    if (entry.name === "lost+found") continue;
    if (uid !== owner) yield path;
    else if (entry.isDirectory()) yield* foreignPaths(path, owner);
  }
}

export function isOurs(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with the newest backup, which a restore would take; its parts are read and compared with their digests. */
export async function backupFaults({ databaseUrl, backup, s3 }: Config): Promise<string[]> {
  // A server's backups are made by other means.
  if (!databaseUrl.startsWith("file:")) return [];
  const place = openPlace(backup.to, s3);
  if (typeof place === "string") return [`ALMONER_BACKUP_TO: ${place}`];
  const newest = (await place.names()).at(-1);
  if (newest === undefined) return [];
  try {
    const { store, keys } = await manifestOf(place, newest);
    const parts = keys === null ? store.parts : [...store.parts, keys];
    for (const part of parts) await readPart(place, newest, part);
    return [];
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error;
    return [`${error.message}.`];
  }
}

export async function auditFaults(store: Store): Promise<string[]> {
  const { faults } = await verifyAudit(store, await storedHeads(store));
  return faults.map(({ id, problem }) => `Entry ${id} of the audit log ${problem}.`);
}

/** What is made again when it is damaged. */
export const smallFiles = ({ dataDir }: Config): string[] => [
  join(dataDir, "limits.db"),
  join(publisherFolders(dataDir).bundle, "publisher.lock"),
];

export async function damagedSites({ dataDir }: Config): Promise<string[]> {
  const { compiled } = publisherFolders(dataDir);
  const names = existsSync(compiled) ? readdirSync(compiled) : [];
  const folders = names
    .filter((name) => /^[0-9a-f]{16}$/.test(name))
    .map((name) => join(compiled, name));
  const damaged = folders.map((folder) =>
    readCompiled(folder).then(
      () => [],
      () => [folder],
    ),
  );
  return (await Promise.all(damaged)).flat();
}

/**
 * Files of the current release, and of the plain folder, whose bytes are not those that the manifest names: where they lie. With
 * `repair` they are removed, and the next start renders everything again and shows what is missing.
 */
export function damagedFiles({ dataDir, publicDir }: Config, repair = false): string[] {
  const { bundle } = publisherFolders(dataDir);
  if (!bundleExists(bundle) || isManifestDamaged(bundle)) return [];
  using manifest = openManifest(bundle, { readonly: !repair });
  const blobs = openBlobs(manifest);
  const { exported_release, current_release } = manifest.state();
  const files = manifest.db
    .query<NewFile, []>("SELECT path, lower(hex(digest)) AS digest, size FROM files")
    .all();
  const lost = files.filter(({ digest }) => blobs.find(digest) === null);
  // The plain folder may lag behind, and is checked once it does not.
  const isShown = exported_release === current_release;
  const shown = isShown ? differing(publicDir, files) : [];
  const found = lost.map(
    ({ path, digest }) => `${blobs.placeOf(digest) ?? blobs.folder} (${path})`,
  );
  if (repair) {
    for (const path of shown) rmSync(path, { force: true });
    for (const { digest } of lost) blobs.remove(digest);
    manifest.setState({ inputs_digest: "" });
  }
  return [...found, ...shown];
}

const differing = (folder: string | null, files: readonly NewFile[]): string[] =>
  files.flatMap(({ path, digest }) =>
    folder === null || holds(join(folder, path), digest) ? [] : [join(folder, path)],
  );

function holds(path: string, digest: string): boolean {
  try {
    return sha256Of(readFileSync(path)) === digest;
  } catch {
    return false;
  }
}

/** What the service that runs on this data folder finds of itself, as its /readyz says; it knows what no file shows. */
export async function serviceFaults({ dataDir }: Config): Promise<string[]> {
  const url = await findService(dataDir);
  if (url === null) return [];
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(serviceWaitMs) });
  const { reasons = [] } = Unreadiness.parse(await answer.json());
  return reasons.map(({ why }) => `The service at ${url} is not ready: ${why}.`);
}

const serviceWaitMs = 5_000;
const Unreadiness = z.object({ reasons: z.array(z.object({ why: z.string() })).optional() });

/** Asks each node one question. The local chain runs only while the service does, and is not asked. */
export async function chainFaults(config: Config): Promise<string[]> {
  const { network, solanaRpcUrls: rpcUrls, localChainPort, commitment } = config;
  if (localChainPort !== null || rpcUrls.length === 0) return [];
  const settings = { network, rpcUrls, sponsorKey: null, commitment, clock: systemClock };
  const opened = await openChain(settings);
  if (!opened.ok) return [opened.failure.message];
  return findingsOf("chain", { chain: await chainHealth(opened.value) });
}
