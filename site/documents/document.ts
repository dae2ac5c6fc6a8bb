import type { ListIndex } from "#content/nonprofit/list-index.ts";
import type { Store } from "#content/store/open.ts";
import type { BuildInputs } from "#site/parts/build-inputs.ts";
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
