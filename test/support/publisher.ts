import { generateKeyPairSync } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import {
  openPublisher,
  type Publisher,
  publisherFolders,
  type PublisherSettings,
} from "#site/publisher/open-publisher.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { aNonprofit } from "./records.ts";

/** A signing key for tests. */
export const aSigningKey = (): string =>
  generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey;

/** Sites compiled by tests, kept from run to run by their digest. */
export const compiledSites = join(tmpdir(), "almoner-compiled-for-tests");

/** Puts the compiled site where processes with this data folder look for it: each would compile one of its own. */
export async function putCompiledSite(dataDir: string): Promise<void> {
  const { folder } = await compileSite(compiledSites);
  const place = join(publisherFolders(dataDir).compiled, basename(folder));
  cpSync(folder, place, { recursive: true });
}

/** Where a directory of a test shows itself as plain files. */
export const plainFolder = (dataDir: string): string => join(dataDir, "public");

export type Directory = {
  dataDir: string;
  store: Store;
  publisher: Publisher;
  /** Closes the publisher and opens one with these settings changed. */
  restart(changed: Partial<PublisherSettings>): Promise<void>;
  /** Opens a publisher after the one before was closed. */
  reopen(): Promise<void>;
  /** Saves a nonprofit with some context changed; answers the sequence of the change. */
  edit(slug: string, context: Partial<NonprofitRecord>): Promise<void>;
  add(context: Partial<NonprofitRecord>): Promise<void>;
  /** Publishes all there is, both jobs, the feed and the signed list. */
  drain(): Promise<void>;
  /** The text of a file of the current release, null for none. */
  read(path: string): string | null;
  close(): void;
};

/**
 * A directory of its own in a temporary folder, with real store, renderer and publisher, not built yet. `exported`: it is
 * also shown as plain files.
 */
export async function aDirectory(
  nonprofits: Partial<NonprofitRecord>[] = [],
  {
    searchIndex = false,
    pictures = false,
    exported = false,
  }: { searchIndex?: boolean; pictures?: boolean; exported?: boolean } = {},
): Promise<Directory> {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-directory-"));
  const databaseUrl = `file:${join(dataDir, "store.db")}`;
  const store = await openStore({ url: databaseUrl, synchronous: "OFF" });
  const save = (saves: Parameters<typeof saveNonprofits>[1]) =>
    store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date("2026-11-01") }));
  await save(nonprofits.map((context) => ({ before: null, after: aNonprofit(context) })));
  const settings = {
    dataDir,
    databaseUrl,
    databaseToken: undefined,
    baseUrl: "http://localhost:8080",
    network: "local",
    compiledFolder: compiledSites,
    signingKey: aSigningKey(),
    searchIndex,
    pictures,
    publicDir: exported ? plainFolder(dataDir) : null,
    log: () => {},
  } as const;
  let publisher = await openPublisher(settings);
  return {
    dataDir,
    store,
    get publisher() {
      return publisher;
    },
    restart: async (changed) => {
      publisher.close();
      publisher = await openPublisher({ ...settings, ...changed });
    },
    reopen: async () => {
      publisher = await openPublisher(settings);
    },
    edit: async (slug, changed) => {
      const before = await recordBySlug(store, slug);
      if (before === null) throw new Error(`no nonprofit ${slug} in this test`);
      await save([{ before, after: { ...before, ...changed } }]);
    },
    add: async (one) => {
      await save([{ before: null, after: aNonprofit(one) }]);
    },
    drain: async () => {
      await publishChanges(publisher.context);
      await publisher.searchJob.run();
      await publisher.feedJob.run();
      await publisher.feedJob.run();
    },
    read: (path) => {
      const { context } = publisher;
      const file = context.manifest.find(path);
      return file === null ? null : context.blobs.read(file.digest).toString();
    },
    close: () => {
      publisher.close();
      store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export { publisherFolders };
