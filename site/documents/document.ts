import type { DataPackage } from "#content/contract/feed.ts";
import type { ListIndex } from "#content/find/browse-store.ts";
import { addressesWhere } from "#content/language/address-pattern.ts";
import { languages } from "#content/language/languages.ts";
import { english, type Texts } from "#content/language/texts.ts";
import { type Change, isOfDonations } from "#content/nonprofit/changes-store.ts";
import { summaryColumns } from "#content/nonprofit/wire.ts";
import type { Store } from "#content/store/open.ts";
import { markdownPathOf, pageMarkdown } from "#site/parts/markdown.ts";
import type { PageLocals } from "./page-locals.ts";
import type { BuildInputs } from "#site/parts/page-head.ts";
import type { Renderer } from "#site/renderer/renderer.ts";

/**
 * A document is rendered and goes stale as a whole, and has one or more files. Its key is its kind and its name within the
 * kind, for example "profile 12", "list-page cause:education 3", "page home".
 */
export type DocumentKey = string;

/** One file of the bundle; its path has no leading slash. `body` null: the path must not exist. */
export type BundleFile = { path: string; body: string | Uint8Array | null };

export type Drawing = BuildInputs & { readonly renderer: Renderer };

/** The inputs of documents: a document depends only on the store, the code, the base URL and the network of donations. */
export type Source = Drawing & {
  readonly store: Store;
  /** The places of nonprofits in lists. */
  readonly lists: ListIndex;
  /** The files of /data in the bundle; absent: none yet. */
  readonly dataPackage?: () => DataPackage | null;
};

/** A kind of document: how its documents are found and rendered. */
export type DocumentKind<Needs = Source> = {
  readonly kind: string;
  /** The keys of the whole directory, in batches that are rendered with one query per table. */
  all(source: Needs): AsyncIterable<DocumentKey[]> | Iterable<DocumentKey[]>;
  /** Renders a batch. Throws when one key fails; `renderKeys` then renders each key alone, so that only that one fails. */
  render(keys: readonly DocumentKey[], source: Needs): Promise<BundleFile[]>;
  /** The keys that a change makes stale in the release that shows the changed profile. Pure; absent: none. */
  staleAtOnce?(change: Change, context: KnownPlaces): DocumentKey[];
  /** The keys that a change makes stale for the list job: documents that shift many pages or that many changes share. */
  staleLater?(change: Change, context: KnownPlaces): DocumentKey[];
};

/** What `staleAtOnce` and `staleLater` know about a changed nonprofit. */
export type KnownPlaces = {
  /** Its place, from 0, in each list that contains it; Infinity where it is on no page of the bundle. */
  places: ReadonlyMap<string, number>;
  /** The slugs in the published list of nonprofits that need help; null when unknown. */
  needs: ReadonlySet<string> | null;
};

/** Renders the file of a page or an endpoint of the site from its loaded data, by default at the page's own path. */
export async function fileOf<Page extends keyof PageLocals>(
  source: Source,
  page: Page,
  loaded: PageLocals[Page],
  path = pathOf(page),
): Promise<BundleFile> {
  return { path, body: await renderPage(source, page, loaded) };
}

/** The languages of a page, named by its file under site/pages, English first; other files are in English only. */
const languagesOf = (page: string): readonly Texts[] =>
  page.includes(".") ? [english] : [...languages.values()];

/** Renders a page, named by its file under site/pages, in the language of `t`; `extra` is its data. */
export async function renderPage(
  { renderer, baseUrl, network, isSample = false, t = english }: Drawing,
  page: string,
  extra: object,
): Promise<string | Uint8Array> {
  const locals = { baseUrl, network, isSample, t, languages: languagesOf(page), ...extra };
  const html = await renderer.render(page, locals);
  return t === english ? html : withLinksIn(t, new TextDecoder().decode(html));
}

/**
 * Makes links and forms of a page lead to pages of its language; links with a `lang` stay. Forms to the service get the
 * reader's language as a parameter.
 */
const withLinksIn = (t: Texts, html: string): string => {
  const links = new HTMLRewriter();
  const lead = (selector: string, attribute: string, otherwise: (address: string) => string) =>
    links.on(selector, {
      element: (link) => {
        const address = link.getAttribute(attribute) ?? "";
        const [, path = "", rest = ""] = /^([^?#]*)(.*)$/.exec(address) ?? [];
        const isPage = !notForReaders.test(path) && !path.includes(".");
        link.setAttribute(attribute, isPage ? t.path(path) + rest : otherwise(address));
      },
    });
  lead('a[href^="/"]:not([lang])', "href", (address) => address);
  lead('form[action^="/"]', "action", (address) => `${address}?language=${t.language}`);
  return links.transform(html);
};

/** Addresses for programs and operators, which have no language. */
const notForReaders = addressesWhere((form) => form.for !== "people" && form.from !== "file");

/** "/causes" → "causes.html", "/llms.txt" → "llms.txt". */
function pathOf(page: string): string {
  const path = page === "/" ? "index" : page.slice(1);
  return path.slice(path.lastIndexOf("/") + 1).includes(".") ? path : `${path}.html`;
}

/** A document that is the only one of its name, in one file or in several with the same content. */
export type SingleDocument = {
  readonly paths: readonly string[];
  /** Whether a change makes it stale; absent when only new code does. */
  readonly staleAfter?: StaleAfter | undefined;
  render(source: Source): Promise<BundleFile[]>;
};

export type StaleAfter = (change: Change) => boolean;

/** The document of a page or an endpoint, from what `load` reads: a page in each language and, in English, as markdown. */
export function single<Page extends keyof PageLocals>(
  page: Page,
  load: (source: Source) => PageLocals[Page] | Promise<PageLocals[Page]>,
  {
    staleAfter,
    paths = bothFormsOf(pathOf(page)),
  }: { staleAfter?: StaleAfter; paths?: readonly string[] } = {},
): SingleDocument {
  const translated = languagesOf(page)
    .slice(1)
    .map((t) => ({ t, path: `${t.path(page).slice(1)}.html` }));
  return {
    paths: [...paths, ...translated.map(({ path }) => path)],
    staleAfter,
    render: async (source) => {
      const file = await fileOf(source, page, await load(source));
      const markdown = markdownPathOf(file.path);
      const files = paths.map((path) => ({
        path,
        body: path === markdown ? pageMarkdown(textOf(file.body), source.baseUrl) : file.body,
      }));
      const others = translated.map(async ({ t, path }) => {
        const inLanguage = { ...source, t };
        return fileOf(inLanguage, page, await load(inLanguage), path);
      });
      return [...files, ...(await Promise.all(others))];
    },
  };
}

/** The paths of a page: of its file and, if it has one, of its markdown. */
export const bothFormsOf = (path: string): string[] => {
  const markdown = markdownPathOf(path);
  return markdown === null ? [path] : [path, markdown];
};

/** The text of a file; "" for a path that must not exist. */
export const textOf = (body: BundleFile["body"]): string =>
  body instanceof Uint8Array ? new TextDecoder().decode(body) : (body ?? "");

/** A kind whose documents are all known in advance. */
type NamedDocuments = DocumentKind & {
  readonly documents: Readonly<Record<DocumentKey, SingleDocument>>;
};

/** The kind of these documents, each under its name. */
export const singles = (
  kind: string,
  documents: Readonly<Record<string, SingleDocument>>,
): NamedDocuments =>
  ofKeys(
    kind,
    Object.fromEntries(
      Object.entries(documents).map(([name, document]) => [`${kind} ${name}`, document]),
    ),
  );

/** A kind with one document; its key is the name of the kind. */
export const kindOfOne = (kind: string, document: SingleDocument): NamedDocuments =>
  ofKeys(kind, { [kind]: document });

const ofKeys = (
  kind: string,
  documents: Readonly<Record<DocumentKey, SingleDocument>>,
): NamedDocuments => ({
  kind,
  documents,
  all: () => [Object.keys(documents)],
  render: async (keys, source) => {
    const rendering = keys.map((key) => {
      const document = documents[key];
      if (document === undefined) throw new Error(`no document is named ${key}`);
      return document.render(source);
    });
    return (await Promise.all(rendering)).flat();
  },
  staleLater: (change) =>
    Object.entries(documents).flatMap(([key, { staleAfter }]) =>
      staleAfter?.(change) === true ? [key] : [],
    ),
});

/** A kind whose documents are rendered one after the other, each from the words that follow the kind in its key. */
export const oneByOne = <Needs>(
  kind: string,
  all: DocumentKind<Needs>["all"],
  fileFrom: (source: Needs, ...words: string[]) => Promise<BundleFile>,
): DocumentKind<Needs> => ({
  kind,
  all,
  render: async (keys, source) => {
    const files: BundleFile[] = [];
    for (const key of keys) files.push(await fileFrom(source, ...partsOf(key).slice(1)));
    return files;
  },
});

/** The keys of documents that are numbered from 1, in batches. */
export function* numbered(
  count: number,
  batchSize: number,
  keyFor: (number: number) => DocumentKey,
): Generator<DocumentKey[]> {
  for (let first = 1; first <= count; first += batchSize) {
    const length = Math.min(batchSize, count - first + 1);
    yield Array.from({ length }, (_, at) => keyFor(first + at));
  }
}

/** "list-page cause:education 3" → ["list-page", "cause:education", "3"]. */
export const partsOf = (key: DocumentKey): string[] => key.split(" ");

export type RenderOutcome = {
  files: BundleFile[];
  /** Documents that could not be rendered; their older version stays. */
  failed: { key: DocumentKey; error: string }[];
};

/**
 * Renders documents of any kinds, those of one kind together. When that fails, each is rendered alone, so that one that
 * cannot be rendered does not stop others.
 */
export async function renderKeys(
  keys: Iterable<DocumentKey>,
  kinds: readonly DocumentKind[],
  source: Source,
): Promise<RenderOutcome> {
  const outcome: RenderOutcome = { files: [], failed: [] };
  for (const [kind, ofKind] of Map.groupBy(keys, (key) => partsOf(key)[0])) {
    const renderer = kinds.find((candidate) => candidate.kind === kind);
    if (renderer === undefined) throw new Error(`no kind of document is named ${kind}`);
    await renderTogether(renderer, ofKind, source, outcome);
  }
  return outcome;
}

async function renderTogether(
  kind: DocumentKind,
  keys: DocumentKey[],
  source: Source,
  outcome: RenderOutcome,
): Promise<void> {
  try {
    outcome.files.push(...(await kind.render(keys, source)));
  } catch (error) {
    const [only] = keys;
    if (keys.length === 1 && only !== undefined) {
      outcome.failed.push({ key: only, error: error instanceof Error ? error.message : "unknown" });
      return;
    }
    for (const key of keys) await renderTogether(kind, [key], source, outcome);
  }
}

/** The documents of all kinds that a change makes stale in the release that shows the changed profile. */
export const staleAtOnce = (
  kinds: readonly DocumentKind[],
  change: Change,
  context: KnownPlaces,
): DocumentKey[] => kinds.flatMap((kind) => kind.staleAtOnce?.(change, context) ?? []);

/** As `staleAtOnce`, for the list job. `lists`: lists in which the nonprofit moved, so all of their pages may be stale. */
export const staleLater = (
  kinds: readonly DocumentKind[],
  change: Change,
  places: KnownPlaces["places"],
): { keys: DocumentKey[]; lists: string[] } => ({
  keys: kinds.flatMap((kind) => kind.staleLater?.(change, { places, needs: null }) ?? []),
  lists: movedLists(change),
});

/** The nonprofit's id in a change of a profile; null for a change of donations or of the directory. */
export const profileIn = (change: Change): number | null =>
  isOfDonations(change) ? null : change.nonprofit_id;

/** Fields that an item of a list shows: when nothing moved, only these make a list page stale. */
export const listedFields: ReadonlySet<string> = new Set([
  ...summaryColumns,
  "causes",
  "register_records",
]);

/** The published list of profiles that need help. */
export const needsPath = "api/needs-enrichment.json";
/** Fields that this list shows or sorts by. */
export const needsFields: ReadonlySet<string> = new Set([
  ...listedFields,
  "description",
  "contact_email",
]);

export const touches = (change: Change, fields: ReadonlySet<string>): boolean =>
  profileIn(change) !== null && change.fields.some((field) => fields.has(field));

/** The lists in which a nonprofit moved, without "thin" (nonprofits that need help), which has no pages. */
const movedLists = (change: Change): string[] =>
  profileIn(change) === null ? [] : change.moved_lists.filter((list) => list !== "thin");

const countedFields: ReadonlySet<string> = new Set(["verified", "beneficiaries_per_year"]);

/** Whether a change alters the members or the order of lists. */
export const movesLists = (change: Change): boolean =>
  movedLists(change).length > 0 || touches(change, countedFields);

/** Whether a change alters numbers of the whole directory, or its day. */
export const changesNumbers = (change: Change): boolean =>
  change.nonprofit_id === null || movesLists(change);

const recommendedFields: ReadonlySet<string> = new Set([
  "slug",
  "name",
  "city",
  "country_code",
  "status",
]);

/** Whether a change may alter a page of recommended nonprofits. */
export const changesRecommended = (change: Change): boolean => touches(change, recommendedFields);

/** Whether a change may alter the list of nonprofits that need help. */
export const changesNeeds = (change: Change): boolean =>
  touches(change, needsFields) ||
  (profileIn(change) !== null && change.moved_lists.includes("thin"));
