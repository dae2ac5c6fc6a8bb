import { existsSync, rmSync, statSync } from "node:fs";
import type { Config } from "#api/config.ts";
import { changedSecrets, signingKeyTrouble } from "#api/secrets.ts";
import { freeBytes } from "#api/operator/health.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { firstChangeAfter } from "#content/operation/directory-facts-store.ts";
import { type CheckName, findingsOf, remedyOf } from "#content/operation/checks.ts";
import { setAside, closeToOthers } from "#content/runtime/files.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { isFileDamaged } from "#content/store/file-damage.ts";
import { storeAddress, type Store } from "#content/store/open.ts";
import { missingInSchema, remakeIndexes, storeFaults } from "#content/store/store-faults.ts";
import { pendingMigrations } from "#content/store/upgrade.ts";
import { chainFiles } from "#scripts/chain/installed.ts";
import { openExistingStore } from "#scripts/support/config.ts";
import {
  bundleExists,
  isManifestDamaged,
  manifestPath,
  publisherFolders,
} from "#site/bundle/manifest.ts";
import {
  auditFaults,
  backupFaults,
  chainFaults,
  damagedFiles,
  damagedSites,
  foreignPaths,
  isOurs,
  privatePaths,
  serviceFaults,
  smallFiles,
} from "./looks.ts";

export type Finding = { check: string; found: string; remedy: string; repaired: boolean };

/** Makes every check of a data folder, and with `repair` does what is safe about what it finds. */
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
  const [found = "", remedy = ""] = message.split("\n");
  return { check, found, remedy, repaired: false };
};

async function probed(
  check: CheckName,
  { look, repair: mend }: Probe,
  { on, repair }: { on: Folder; repair: boolean },
): Promise<Finding[]> {
  const faults = await look(on).catch((error: unknown) =>
    error instanceof CannotStart ? error : [String(error)],
  );
  if (faults instanceof CannotStart) return [findingOf(check, faults)];
  const isTried = repair && mend !== undefined && faults.length > 0;
  const failure = isTried ? await Promise.try(() => mend(on)).then(() => null, String) : null;
  const failed = failure === null ? "" : ` It could not be repaired: ${failure}.`;
  return faults.map((fault) => ({
    check,
    found: fault + failed,
    remedy: remedyOf(check),
    repaired: isTried && failure === null,
  }));
}

/** `opened`: the store, perhaps of an older version. `store`: the same if it is up to date, else null. */
type Folder = { config: Config; opened: Store | null; store: Store | null; now: Date };

/** How `doctor` looks for, and repairs, the faults of one check of content/operation/checks.ts. */
type Probe = {
  /** What is wrong, in the words of an operator; nothing when all is well. */
  look: (on: Folder) => Promise<string[]>;
  /** Does what is safe while nothing else uses the data folder. */
  repair?: (on: Folder) => Promise<void> | void;
};

const clockToleranceMs = 60_000;

/** In this order: what comes first may explain what comes later. */
const probes: Partial<Record<CheckName, Probe>> = {
  service: { look: async ({ config }) => serviceFaults(config) },
  owner: {
    look: async ({ config }) => {
      const closed = privatePaths(config).filter((path) => !isOurs(path));
      if (closed.length > 0) {
        return closed.map((path) => `${path} cannot be read and written by this user.`);
      }
      const { dataDir } = config;
      const [first, ...others] = existsSync(dataDir) ? [...foreignPaths(dataDir)] : [];
      const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
      return first === undefined
        ? []
        : [`${first}${more} belongs to another user than ${dataDir}.`];
    },
  },
  rights: {
    look: async ({ config }) =>
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
    look: async ({ config }) => {
      const free_bytes = await freeBytes(config.dataDir);
      return findingsOf("disk", { store: { free_bytes } });
    },
  },
  store: {
    look: async ({ opened, config }) =>
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
    look: async ({ store }) =>
      (store === null ? [] : await missingInSchema(store.raw)).map(
        ({ type, name }) => `The ${type} ${name} is missing.`,
      ),
    repair: async ({ store }) => {
      if (store !== null) await remakeIndexes(store);
    },
  },
  "audit log": { look: async ({ store }) => (store === null ? [] : auditFaults(store)) },
  "signing key": {
    look: async ({ store, config }) => {
      const trouble = store === null ? null : await signingKeyTrouble(config, store);
      return trouble === null ? [] : [trouble];
    },
  },
  secrets: {
    look: async ({ store, config }) =>
      (store === null ? [] : await changedSecrets(config, store)).map(
        (path) => `${path} is gone, or not as it was made.`,
      ),
  },
  manifest: {
    look: async ({ config }) => {
      const { bundle } = publisherFolders(config.dataDir);
      return bundleExists(bundle) && isManifestDamaged(bundle)
        ? [`${manifestPath(bundle)} is damaged.`]
        : [];
    },
    repair: ({ config }) => setAside(manifestPath(publisherFolders(config.dataDir).bundle)),
  },
  "small files": {
    look: async ({ config }) =>
      smallFiles(config)
        .filter(isFileDamaged)
        .map((path) => `${path} is damaged.`),
    repair: ({ config }) => smallFiles(config).filter(isFileDamaged).forEach(setAside),
  },
  "local chain": {
    look: async ({ config }) => {
      const { journal } = chainFiles(config);
      return isFileDamaged(journal) ? [`${journal} is damaged.`] : [];
    },
  },
  "compiled site": {
    look: async ({ config }) =>
      (await damagedSites(config)).map((folder) => `${folder} is not as it was compiled.`),
    repair: async ({ config }) => {
      for (const folder of await damagedSites(config)) rmSync(folder, { recursive: true });
    },
  },
  "published files": {
    look: async ({ config }) =>
      damagedFiles(config).map((path) => `${path} is damaged or missing.`),
    repair: ({ config }) => void damagedFiles(config, true),
  },
  backups: { look: async ({ config }) => backupFaults(config) },
  chain: { look: async ({ config }) => chainFaults(config) },
  clock: {
    look: async ({ store, now }) => {
      const newest =
        store === null ? null : await firstChangeAfter(store, (await newestSequence(store)) - 1);
      const behindMs = (newest ?? 0) - now.getTime();
      return behindMs > clockToleranceMs
        ? [
            `The clock says ${now.toISOString()}, and the newest change is ${Math.round(behindMs / 1_000)} s later.`,
          ]
        : [];
    },
  },
};
