import causes from "#content/editorial/causes.json";
import { countInList, listCounts } from "#content/nonprofit/list-store.ts";
import {
  type DocumentKey,
  type DocumentKind,
  partsOf,
  type Rendered,
  type Source,
} from "./document.ts";
import { searchDocuments } from "./search-documents.ts";
import { lunrPartsFor, lunrPath, lunrShard } from "./lunr-shard.ts";
import { keyOf } from "./keys.ts";

/**
 * The search index of one part of a cause, with its documents: what an agent or an edge function loads to search
 * without the service. A part costs up to a second, so no job of the publisher renders it: full builds do, and
 * site/search/search-job.ts in a process of its own.
 */
export const lunr = {
  kind: "lunr",
  async *all({ store }) {
    const counts = await listCounts(
      store,
      causes.map(({ id }) => `cause:${id}`),
    );
    for (const [list, count] of counts) {
      const parts = lunrPartsFor(count);
      for (let part = 1; part <= parts; part++) yield [keyOf.lunr(list.slice(6), part)];
    }
  },
  async render(keys, source): Promise<Rendered[]> {
    const rendered: Rendered[] = [];
    for (const key of keys) rendered.push(await renderPart(key, source));
    return rendered;
  },
} satisfies LunrKind;

/** It needs the store alone: whoever makes indexes has no compiled site at hand. */
type LunrKind = Omit<DocumentKind, "render"> & {
  render(keys: readonly DocumentKey[], source: Pick<Source, "store">): Promise<Rendered[]>;
};

async function renderPart(key: DocumentKey, { store }: Pick<Source, "store">): Promise<Rendered> {
  const [, cause = "", number] = partsOf(key);
  const part = Number(number);
  const list = `cause:${cause}`;
  const parts = lunrPartsFor(await countInList(store, list));
  const path = lunrPath(cause, part, parts);
  const documents = await searchDocuments(store, { list, parts, residue: part - 1 });
  if (documents.length === 0) return { key, files: [{ path, body: null }] };
  return { key, files: [{ path, body: lunrShard({ cause, part, parts }, documents) }] };
}
