import { forFile } from "./at-file-top.ts";
import { compiledSites, putCompiledSite } from "./processes.ts";
import { generateKeyPairSync } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import type { Store } from "#content/store/open.ts";
import {
  openPublisher,
  type Publisher,
  type PublisherSettings,
} from "#site/publisher/open-publisher.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { aNonprofit } from "./records.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";
import { openBlankStore } from "#test/support/blank-store.ts";

/** A signing key for tests. */
export const aSigningKey = (): string =>
  generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey;

/** Where a directory of a test shows itself as plain files. */
export const plainFolder = (dataDir: string): string => join(dataDir, "public");

export type Directory = Awaited<ReturnType<typeof aDirectory>>;

/**
 * A directory of its own in a temporary folder, with real store, renderer and publisher, not built yet. `exported`: it is
 * also shown as plain files.
 */
export async function aDirectory(
  nonprofits: Partial<NonprofitRecord>[] = [],
  options: DirectoryOptions = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-directory-"));
  await writeStore(dataDir, nonprofits.map(aNonprofit));
  return openDirectory(dataDir, aSigningKey(), options);
}

export const theDirectory = forFile(aDirectory);

type DirectoryOptions = { searchIndex?: boolean; pictures?: boolean; exported?: boolean };

const databaseIn = (dataDir: string) => `file:${join(dataDir, "store.db")}`;

const saveIn = (store: Store, saves: Parameters<typeof saveNonprofits>[1]) =>
  store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date("2026-11-01") }));

async function writeStore(dataDir: string, nonprofits: NonprofitRecord[]): Promise<void> {
  using store = await openBlankStore(databaseIn(dataDir));
  await saveIn(
    store,
    nonprofits.map((after) => ({ before: null, after })),
  );
}

async function openDirectory(
  dataDir: string,
  signingKey: string,
  { searchIndex = false, pictures = false, exported = false }: DirectoryOptions = {},
) {
  const databaseUrl = databaseIn(dataDir);
  const store = await openBlankStore(databaseUrl);
  const save = (saves: Parameters<typeof saveNonprofits>[1]) => saveIn(store, saves);
  const settings = {
    dataDir,
    databaseUrl,
    databaseToken: undefined,
    baseUrl: "http://localhost:8080",
    network: "local",
    compiledFolder: compiledSites,
    signingKey,
    searchIndex,
    pictures,
    publicDir: exported ? plainFolder(dataDir) : null,
    log: () => {},
  } as const;
  let publisher = await openPublisher(settings);
  const edit = async (slug: string, changed: Partial<NonprofitRecord>): Promise<void> => {
    const before = await recordBySlug(store, slug);
    if (before === null) throw new Error(`no nonprofit ${slug} in this test`);
    await save([{ before, after: { ...before, ...changed } }]);
  };
  const drain = async (): Promise<void> => {
    await publishChanges(publisher.context);
    await publisher.searchJob.run();
    await publisher.feedJob.run();
    await publisher.feedJob.run();
  };
  const close = (): void => {
    publisher.close();
    store.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return {
    dataDir,
    store,
    get publisher(): Publisher {
      return publisher;
    },
    /** Closes the publisher and opens one with these settings changed. */
    restart: async (changed: Partial<PublisherSettings>): Promise<void> => {
      publisher.close();
      publisher = await openPublisher({ ...settings, ...changed });
    },
    /** Opens a publisher after the one before was closed. */
    reopen: async (): Promise<void> => {
      publisher = await openPublisher(settings);
    },
    /** Saves a nonprofit with some fields changed. */
    edit,
    /** The same, and publishes it. */
    publish: async (...change: Parameters<typeof edit>): Promise<void> => {
      await edit(...change);
      await drain();
    },
    add: async (fields: Partial<NonprofitRecord>): Promise<void> => {
      await save([{ before: null, after: aNonprofit(fields) }]);
    },
    /** Publishes all there is, both jobs, the feed and the signed list. */
    drain,
    /** The text of a file of the current release, null for none. */
    read: (path: string): string | null => {
      const { context } = publisher;
      const file = context.manifest.find(path);
      return file === null ? null : context.blobs.read(file.digest).toString();
    },
    /** Builds all there is; answers the files that differ from what was published. */
    rebuilt: async () => (await publisher.buildAll({ processes: 0 })).differing,
    close,
    [Symbol.dispose]: close,
  };
}

/** The same, as a first build leaves it: a copy of a directory that is built once a day for each version of the sources. */
export async function aBuiltDirectory(
  nonprofits: Partial<NonprofitRecord>[] = [],
  options: DirectoryOptions = {},
): Promise<Directory> {
  const { pictures = false } = options;
  const built = await buildOnce(nonprofits.map(aNonprofit), { pictures });
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-directory-"));
  cpSync(dataFolderIn(built), dataDir, { recursive: true });
  return openDirectory(dataDir, readFileSync(keyIn(built), "utf8"), options);
}

export const theBuiltDirectory = forFile(aBuiltDirectory);

const builtDirectories = join(tmpdir(), "almoner-built-for-tests");
const keyIn = (built: string): string => join(built, "signing.pem");
const dataFolderIn = (built: string): string => join(built, "directory");

/** Builds a directory in this process, unless it is there. Pages and signatures show the day, so another day has its own. */
async function buildOnce(
  nonprofits: NonprofitRecord[],
  options: DirectoryOptions,
): Promise<string> {
  const { folder } = await compileSite(compiledSites);
  const day = new Date().toISOString().slice(0, 10);
  const contents = sha256Of(JSON.stringify([nonprofits, options])).slice(0, 16);
  const place = join(builtDirectories, `${day}-${basename(folder)}-${contents}`);
  if (existsSync(place)) return place;
  mkdirSync(builtDirectories, { recursive: true });
  const draft = mkdtempSync(join(builtDirectories, "building-"));
  mkdirSync(dataFolderIn(draft));
  await writeStore(dataFolderIn(draft), nonprofits);
  const signingKey = aSigningKey();
  writeFileSync(keyIn(draft), signingKey);
  const { publisher, store } = await openDirectory(dataFolderIn(draft), signingKey, options);
  await publisher.buildAll({ processes: 0 });
  publisher.close();
  store.close();
  try {
    renameSync(draft, place);
  } catch {
    // Another process has built the same meanwhile.
    rmSync(draft, { recursive: true });
  }
  return place;
}

export { publisherFolders, putCompiledSite };
