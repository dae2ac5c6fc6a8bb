import {
  existsSync,
  rmSync,
  statSync,
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { openChain } from "#api/chain/open-chain.ts";
import type { Config } from "#api/config.ts";
import { freeBytes, chainHealth } from "#api/operator/health.ts";
import { findService } from "#api/operator/running-service.ts";
import { changedSecrets, signingKeyTrouble } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { storedHeads, verifyAudit } from "#content/operation/audit-store.ts";
import { type CheckName, findingsOf, remedyOf } from "#content/operation/checks.ts";
import { firstChangeAfter } from "#content/operation/directory-facts-store.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import { setAside, closeToOthers } from "#content/runtime/files.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { storeAddress, type Store } from "#content/store/open.ts";
import {
  isFileDamaged,
  missingInSchema,
  remakeIndexes,
  storeFaults,
} from "#content/store/store-faults.ts";
import { pendingMigrations } from "#content/store/upgrade.ts";
import { readPart } from "#scripts/backup/bring-back.ts";
import { DamagedBackup, manifestOf, openPlace } from "#scripts/backup/place.ts";
import { chainFiles } from "#scripts/chain/installed.ts";
import { openExistingStore } from "#scripts/support/config.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import {
  bundleExists,
  isManifestDamaged,
  manifestPath,
  publisherFolders,
  openManifest,
  type NewFile,
} from "#site/bundle/manifest.ts";
import { readCompiled } from "#site/renderer/compile.ts";

export type Finding = { check: string; found: string; remedy: string; repaired: boolean };

/** Makes every check of a data folder and, with `repair`, repairs what can safely be repaired. */
export async function examine(
  config: Config,
  { now, repair }: { now: Date; repair: boolean },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const opened = await openExistingStore(config, { migrated: true }).catch((error: unknown) => {
    if (!(error instanceof CannotStart)) throw error;
    findings.push(findingOf("store", error));
    return null;
  });
  try {
    const pending = opened === null ? [] : await pendingMigrations(opened.raw).catch(() => []);
    const on = { config, opened, store: pending.length === 0 ? opened : null, now };
    for (const [check, probe] of Object.entries(probes) as [CheckName, Probe][])
      findings.push(...(await probed(check, probe, { on, repair })));
    return findings;
  } finally {
    opened?.close();
  }
}

const findingOf = (check: string, { message }: CannotStart): Finding => {
  const [firstLine = "", remedy = ""] = message.split("\n");
  return { check, found: firstLine, remedy, repaired: false };
};

async function probed(
  check: CheckName,
  probe: Probe,
  { on, repair }: { on: Folder; repair: boolean },
): Promise<Finding[]> {
  const faults = await Promise.try(probe.look, on).catch((error: unknown) =>
    error instanceof CannotStart ? error : [String(error)],
  );
  if (faults instanceof CannotStart) return [findingOf(check, faults)];
  const isTried = repair && probe.repair !== undefined && faults.length > 0;
  const failure = isTried
    ? await Promise.try(() => probe.repair?.(on)).then(() => null, String)
    : null;
  const failed = failure === null ? "" : ` It could not be repaired: ${failure}.`;
  return faults.map((fault) => ({
    check,
    found: fault + failed,
    remedy: remedyOf(check),
    repaired: isTried && failure === null,
  }));
}

/** `opened`: the store, which may be of an older version. `store`: the same if it is up to date, else null. */
type Folder = { config: Config; opened: Store | null; store: Store | null; now: Date };

/** How `doctor` finds and repairs the faults of one check in content/operation/checks.ts. */
type Probe = {
  /** The faults, in words for an operator; none when all is well. */
  look: (on: Folder) => string[] | Promise<string[]>;
  /** Repairs what is safe to repair while nothing else uses the data folder. */
  repair?: (on: Folder) => Promise<void> | void;
};

const clockToleranceMs = 60_000;

/** A check that needs a store that is up to date. */
const inStore =
  (look: (store: Store, on: Folder) => Promise<string[]>): Probe["look"] =>
  (on) =>
    on.store === null ? [] : look(on.store, on);

const areDamaged = (paths: readonly string[]): string[] =>
  paths.map((path) => `${path} is damaged.`);

/** In this order, because an earlier finding may explain later ones. */
const probes: Partial<Record<CheckName, Probe>> = {
  service: { look: ({ config }) => serviceFaults(config) },
  owner: { look: ({ config }) => ownerFaults(config) },
  rights: {
    look: ({ config }) =>
      privatePaths(config)
        .filter((path) => (statSync(path).mode & 0o077) !== 0)
        .map((path) => `${path} is open to other users.`),
    repair: ({ config }) => {
      const left = privatePaths(config).filter(
        (path) => !["private", "closed"].includes(closeToOthers(path)),
      );
      if (left.length > 0) throw new Error(`${left.join(", ")} cannot be closed by this user`);
    },
  },
  disk: {
    look: async ({ config }) =>
      findingsOf("disk", { store: { free_bytes: await freeBytes(config.dataDir) } }),
  },
  store: {
    look: ({ opened, config }) =>
      opened === null ? [] : storeFaults(opened, storeAddress(config.databaseUrl)),
  },
  upgrade: {
    look: async ({ opened }) => {
      const pending = opened === null ? [] : await pendingMigrations(opened.raw);
      return pending.length === 0
        ? []
        : [`${pending.length} migrations wait: ${pending.join(", ")}.`];
    },
  },
  schema: {
    look: inStore(async ({ raw }) =>
      (await missingInSchema(raw)).map(({ type, name }) => `The ${type} ${name} is missing.`),
    ),
    repair: async ({ store }) => {
      if (store !== null) await remakeIndexes(store);
    },
  },
  "audit log": {
    look: inStore(async (store) =>
      (await verifyAudit(store, await storedHeads(store))).faults.map(
        ({ id, problem }) => `Entry ${id} of the audit log ${problem}.`,
      ),
    ),
  },
  "signing key": {
    look: inStore(async (store, { config }) => {
      const trouble = await signingKeyTrouble(config, store);
      return trouble === null ? [] : [trouble];
    }),
  },
  secrets: {
    look: inStore(async (store, { config }) =>
      (await changedSecrets(config, store)).map(
        (path) => `${path} is gone, or not as it was made.`,
      ),
    ),
  },
  manifest: {
    look: ({ config }) => {
      const { bundle } = publisherFolders(config.dataDir);
      return areDamaged([manifestPath(bundle)].filter(isFileDamaged));
    },
    repair: ({ config }) => setAside(manifestPath(publisherFolders(config.dataDir).bundle)),
  },
  "small files": {
    look: ({ config }) => areDamaged(smallFiles(config).filter(isFileDamaged)),
    repair: ({ config }) => smallFiles(config).filter(isFileDamaged).forEach(setAside),
  },
  "local chain": {
    look: ({ config }) => areDamaged([chainFiles(config).journal].filter(isFileDamaged)),
  },
  "compiled site": {
    look: async ({ config }) =>
      (await damagedSites(config)).map((folder) => `${folder} is not as it was compiled.`),
    repair: async ({ config }) => {
      for (const folder of await damagedSites(config)) rmSync(folder, { recursive: true });
    },
  },
  "published files": {
    look: ({ config }) => damagedFiles(config).map((path) => `${path} is damaged or missing.`),
    repair: ({ config }) => void damagedFiles(config, true),
  },
  backups: { look: ({ config }) => backupFaults(config) },
  chain: { look: ({ config }) => chainFaults(config) },
  clock: {
    look: inStore(async (store, { now }) => {
      const newest = await firstChangeAfter(store, (await newestSequence(store)) - 1);
      const behindMs = (newest ?? 0) - now.getTime();
      return behindMs > clockToleranceMs
        ? [
            `The clock says ${now.toISOString()}, and the newest change is ${Math.round(behindMs / 1_000)} s later.`,
          ]
        : [];
    }),
  },
};

function ownerFaults(config: Config): string[] {
  const closed = privatePaths(config).filter((path) => !isOurs(path));
  if (closed.length > 0)
    return closed.map((path) => `${path} cannot be read and written by this user.`);
  const { dataDir } = config;
  const [first, ...others] = existsSync(dataDir) ? [...foreignPaths(dataDir)] : [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return first === undefined ? [] : [`${first}${more} belongs to another user than ${dataDir}.`];
}

/** Paths that only the user of the service may read. */
function privatePaths({ dataDir, databaseUrl }: Config): string[] {
  const secrets = join(dataDir, "secrets");
  const names = existsSync(secrets) ? readdirSync(secrets) : [];
  const store = databaseUrl.startsWith("file:") ? [storeAddress(databaseUrl)] : [];
  return [dataDir, ...store, secrets, ...names.map((name) => join(secrets, name))].filter(
    existsSync,
  );
}

/** Paths in the data folder that another user owns, for example after a command that root ran. */
function* foreignPaths(folder: string, owner = statSync(folder).uid): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // A path that has just vanished has no owner, and `lost+found` belongs to the disk.
    const uid = lstatSync(path, { throwIfNoEntry: false })?.uid ?? owner;
    if (entry.name === "lost+found") continue;
    if (uid !== owner) yield path;
    else if (entry.isDirectory()) yield* foreignPaths(path, owner);
  }
}

function isOurs(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Faults of the newest backup, which a restore would use. Its parts are read and compared with their digests. */
async function backupFaults({ databaseUrl, backup, s3 }: Config): Promise<string[]> {
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

/** Files that are made again when they are missing. */
const smallFiles = ({ dataDir }: Config): string[] => [
  join(dataDir, "limits.db"),
  join(publisherFolders(dataDir).bundle, "publisher.lock"),
];

async function damagedSites({ dataDir }: Config): Promise<string[]> {
  const { compiled } = publisherFolders(dataDir);
  const names = existsSync(compiled) ? readdirSync(compiled) : [];
  const folders = names
    .filter((name) => /^[0-9a-f]{16}$/.test(name))
    .map((name) => join(compiled, name));
  const read = await Promise.allSettled(folders.map(readCompiled));
  return folders.filter((_, at) => read[at]?.status === "rejected");
}

/**
 * Paths of files in the current release and in the plain folder that differ from the manifest. With `repair`, they are
 * removed, and the next start renders everything again and exports what is missing.
 */
function damagedFiles({ dataDir, publicDir }: Config, repair = false): string[] {
  const { bundle } = publisherFolders(dataDir);
  if (!bundleExists(bundle) || isManifestDamaged(bundle)) return [];
  using manifest = openManifest(bundle, { readonly: !repair });
  const blobs = openBlobs(manifest);
  const { exported_release, current_release } = manifest.state();
  const files = [...manifest.files("true")];
  const lost = files.filter(({ digest }) => blobs.find(digest) === null);
  // The plain folder may lag behind, and is checked only when it does not.
  const isShown = exported_release === current_release;
  const wrongPaths = isShown ? differing(publicDir, files) : [];
  const places = lost.map(
    ({ path, digest }) => `${blobs.placeOf(digest) ?? blobs.folder} (${path})`,
  );
  if (repair) {
    for (const path of wrongPaths) rmSync(path, { force: true });
    for (const { digest } of lost) blobs.remove(digest);
    manifest.setState({ inputs_digest: "" });
  }
  return [...places, ...wrongPaths];
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

/** Faults that the running service reports in /readyz, because no file shows them. */
async function serviceFaults({ dataDir }: Config): Promise<string[]> {
  const url = await findService(dataDir);
  if (url === null) return [];
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(serviceWaitMs) });
  const { reasons = [] } = Unreadiness.parse(await answer.json());
  return reasons.map(({ why }) => `The service at ${url} is not ready: ${why}.`);
}

const serviceWaitMs = 5_000;
const Unreadiness = z.object({ reasons: z.array(z.object({ why: z.string() })).optional() });

/** Asks each node one question. The local chain is not asked, because it runs only beside the service. */
async function chainFaults(config: Config): Promise<string[]> {
  const { network, solanaRpcUrls: rpcUrls, localChainPort, commitment } = config;
  if (localChainPort !== null || rpcUrls.length === 0) return [];
  const settings = { network, rpcUrls, sponsorKey: null, commitment, clock: systemClock };
  const opened = await openChain(settings);
  if (!opened.ok) return [opened.failure.message];
  return findingsOf("chain", { chain: await chainHealth(opened.value) });
}
