import type { ListIndex } from "#content/nonprofit/list-index.ts";
import type { Store } from "#content/store/open.ts";
import type { BuildInputs } from "#site/parts/profile-view.ts";
import type { Renderer } from "#site/renderer/renderer.ts";

/**
 * A document is what is rendered and goes stale as a whole: its key is its kind and what tells it from its like, for
 * example "profile 12", "list-page cause:education 3", "page home". It has one or more files.
 */
export type DocumentKey = string;

/** One file of the bundle; its path has no leading slash. A body of null says that the path must not exist. */
export type BundleFile = { path: string; body: string | Uint8Array | null };

/**
 * What a document is made of: a pure function of the store and the code, of the origin in absolute URLs, and of the
 * network of donations.
 */
export type Source = BuildInputs & {
  readonly store: Store;
  /** Where nonprofits stand in lists: as the store has it, or later than the changes that are being published. */
  readonly lists: ListIndex;
  readonly renderer: Renderer;
};

export type Rendered = { key: DocumentKey; files: BundleFile[] };

/** How one kind of document is found and rendered. */
export type DocumentKind = {
  readonly kind: string;
  /** The keys of the whole directory, in batches that are rendered with one query per table. */
  all(source: Source): AsyncIterable<DocumentKey[]> | Iterable<DocumentKey[]>;
  /** Renders a batch. A failure of one key is thrown by `render` of that key alone, so that it stops only itself. */
  render(keys: readonly DocumentKey[], source: Source): Promise<Rendered[]>;
};

/** "list-page cause:education 3" → ["list-page", "cause:education", "3"]. */
export const partsOf = (key: DocumentKey): string[] => key.split(" ");

export type RenderOutcome = {
  files: BundleFile[];
  /** Documents that could not be rendered; their older version stays. */
  failed: { key: DocumentKey; error: string }[];
};

/**
 * Renders documents of any kinds. Those of one kind are rendered together; when that fails, each is tried alone, so
 * that a page that cannot be rendered stops only itself.
 */
export async function renderKeys(
  keys: Iterable<DocumentKey>,
  kinds: readonly DocumentKind[],
  source: Source,
): Promise<RenderOutcome> {
  const outcome: RenderOutcome = { files: [], failed: [] };
  for (const [kind, ofKind] of Map.groupBy(keys, (key) => partsOf(key)[0])) {
    const renderer = kinds.find((one) => one.kind === kind);
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
    const rendered = await kind.render(keys, source);
    outcome.files.push(...rendered.flatMap(({ files }) => files));
  } catch (error) {
    const [only] = keys;
    if (keys.length === 1 && only !== undefined) {
      outcome.failed.push({ key: only, error: error instanceof Error ? error.message : "unknown" });
      return;
    }
    for (const key of keys) await renderTogether(kind, [key], source, outcome);
  }
}
