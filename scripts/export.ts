import type { Transaction } from "@libsql/client";
import type { ParsedArgs } from "citty";
import {
  createWriteStream,
  renameSync,
  rmSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Config } from "#api/config.ts";
import { addressesWhere } from "#content/language/address-pattern.ts";
import { nonprofitIdsAfter, recordsById } from "#content/nonprofit/record-store.ts";
import { recordLine } from "#content/nonprofit/record-line.ts";
import { exportTables } from "#content/store/move.ts";
import { type Queryable, queryable, type Store } from "#content/store/open.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { publisherFolders, bundleExists, openManifest } from "#site/bundle/manifest.ts";
import { filePathsFor } from "#site/delivery/http-headers.ts";
import { flag, runCommand, textOption, wordedCommand } from "./support/command.ts";
import {
  configOrExit,
  openExistingStore,
  reasonOf,
  stopSignal,
  stopWith,
} from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

const args = {
  out: textOption,
  all: flag,
  site: textOption,
  "with-contact-emails": flag,
} as const;

export const command = wordedCommand("export", {
  args,
  run: ({ args: options }) => {
    const config = configOrExit();
    return options.site === undefined
      ? exportRows(config, options)
      : exportSite(config, options.site, options.out);
  },
});

async function exportRows(config: Config, options: ParsedArgs<typeof args>): Promise<void> {
  using store = await openExistingStore(config);
  const { stream, keep, drop } = openOut(options.out);
  const progress = startProgress("exporting", 0);
  let count = 0;
  const onLines = (lines: number) => progress.at((count += lines));
  const asks = { contactEmails: options["with-contact-emails"] === true };
  const signal = stopSignal();
  const all = options.all === true;
  const texts = atOneMoment(store, (source) =>
    all ? exportTables(source, onLines) : exportRecords(source, asks, onLines),
  );
  const failure = await pipeline(texts, stream, { signal, end: stream !== process.stdout }).then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  );
  progress.end();
  // A reader of standard output that has enough, such as `head`, ends it.
  if (options.out === undefined && failure?.code === "EPIPE") return;
  if (failure !== null) {
    drop();
    const place = options.out ?? "Standard output";
    stopWith(`export: ${signal.aborted ? "interrupted" : reasonOf(failure, place)}`);
  }
  keep();
  console.error(`${count.toLocaleString("en")} ${all ? "rows" : "records"}`);
  if (all) {
    console.error("Keys are not in it: copy the folder `secrets` of the data folder, too.");
    if (!store.embedded) console.error(ofServer);
  }
}

const pass = () => {};

/** Opens what the records go to. A file is replaced by `keep` when it is whole, but never a pipe, a device or a link. */
function openOut(out: string | undefined) {
  if (out === undefined) return { stream: process.stdout, keep: pass, drop: pass };
  const stat = statSync(out, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) stopWith(`--out: ${out} is a folder. Name a file.`, 2);
  if (stat?.isFile() === false) return { stream: createWriteStream(out), keep: pass, drop: pass };
  const path = stat === undefined ? out : realpathSync(out);
  const draft = `${path}.part-${process.pid}`;
  return {
    stream: createWriteStream(draft, { flush: true, mode: 0o600 }),
    keep: () => renameSync(draft, path),
    drop: () => rmSync(draft, { force: true }),
  };
}

/** Exports the published site for a host that maps no addresses. */
async function exportSite(
  { dataDir, baseUrl }: Config,
  form: string,
  folder: string | undefined,
): Promise<void> {
  if (form !== "plain" || folder === undefined)
    stopWith("Write it so: bun run export --site plain --out folder", 2);
  const { bundle } = publisherFolders(dataDir);
  const signal = stopSignal();
  try {
    const files = await exportPlainSite({ bundle, folder, baseUrl, signal });
    console.error(`${files.toLocaleString("en")} files`);
  } catch (error) {
    stopWith(`export: ${signal.aborted ? "interrupted" : reasonOf(error, folder)}`);
  }
}

const ofServer =
  "What was written to the database server meanwhile may be in some tables only: stop what writes there, and export again.";

const recordsAtOnce = 1_000;

/** All nonprofits, even withdrawn ones, as lines of NDJSON in the order of their ids, 1,000 at a time. */
async function* exportRecords(
  source: Queryable,
  asks: { contactEmails: boolean },
  onLines: (count: number) => void,
): AsyncGenerator<string> {
  for (let after = 0; ;) {
    const ids = await nonprofitIdsAfter(source, after, recordsAtOnce);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const records = await recordsById(source, ids);
    onLines(records.length);
    yield `${records.map((record) => recordLine(record, asks)).join("\n")}\n`;
  }
}

/** Reads an embedded store in the state at the start, whatever is written meanwhile. */
async function* atOneMoment(
  store: Store,
  read: (source: Queryable) => AsyncGenerator<string>,
): AsyncGenerator<string> {
  // A server ends transactions after some seconds; an embedded store keeps the snapshot while it is read.
  const snapshot: Transaction | null = store.embedded
    ? await store.raw.transaction("deferred")
    : null;
  try {
    yield* read(snapshot === null ? store : queryable(snapshot));
  } finally {
    snapshot?.close();
  }
}

/**
 * Writes the published files for a host that maps no addresses. A page becomes a folder with index.html, so that its
 * address works unchanged; links to JSON name the file; links to actions of the service lead to the directory. `folder`
 * must be empty or absent, and is empty again when it fails. Returns the number of files; throws with a sentence for the
 * operator.
 */
export async function exportPlainSite({
  bundle,
  folder,
  baseUrl,
  signal,
}: {
  bundle: string;
  folder: string;
  /** Without a trailing slash. */
  baseUrl: string;
  signal?: AbortSignal;
}): Promise<number> {
  if (!bundleExists(bundle))
    throw new Error("Nothing was published from this data folder yet. Run `bun run publish`.");
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Name an empty folder, or one that does not exist.`);
  using manifest = openManifest(bundle, { readonly: true });
  const blobs = openBlobs(manifest);
  const digests = new Map(
    [...manifest.files("true")]
      .filter(({ path }) => !ofService(path))
      .map(({ path, digest }) => [path, digest]),
  );
  const links = new HTMLRewriter().on(".giving", {
    element: (box) => void box.setAttribute("data-directory", baseUrl),
  });
  for (const attribute of ["href", "action"]) {
    links.on(`[${attribute}^="/"]`, {
      element: (element) => {
        const address = plainAddress(element.getAttribute(attribute) ?? "", digests, baseUrl);
        element.setAttribute(attribute, address);
      },
    });
  }
  try {
    for (const [path, digest] of digests) {
      const target = join(folder, plainPath(path));
      mkdirSync(dirname(target), { recursive: true });
      if (!path.endsWith(".html")) blobs.copyTo(digest, target);
      else writeFileSync(target, links.transform(blobs.read(digest).toString()));
      await Bun.sleep(0);
      signal?.throwIfAborted();
    }
  } catch (error) {
    // The same command would refuse half a site.
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    throw error;
  }
  return digests.size;
}

/** Pages that do nothing without the service; links lead to the directory's own. */
const acting = addressesWhere(({ acts }) => acts === true);
const ofService = (path: string): boolean =>
  path.endsWith(".html") && acting.test(`/${path.slice(0, -".html".length)}`);

const isPage = (path: string): boolean =>
  path.endsWith(".html") && path !== "index.html" && path !== "404.html";

const plainPath = (path: string): string =>
  isPage(path) ? `${path.slice(0, -".html".length)}/index.html` : path;

/** The address on a plain host for one of our links; for what it cannot have, the address at `baseUrl`. */
export function plainAddress(
  link: string,
  files: { has(path: string): boolean },
  baseUrl: string,
): string {
  const [, path = "", query = "", fragment = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(link) ?? [];
  const file = filePathsFor(path).find((candidate) => files.has(candidate));
  // Only the service reads the parameters of these addresses.
  const isAsked = query !== "" && /^\/(?:api\/|browse$)/.test(path);
  if (file === undefined || isAsked) return link.startsWith("//") ? link : `${baseUrl}${link}`;
  const plain = `/${plainPath(file)}`.replace(/(?<=\/)index\.html$/, "");
  return `${plain}${query}${fragment}`;
}

if (import.meta.main) await runCommand(command);
