import type { BundleFile, DocumentKey, DocumentKind, Source } from "./document.ts";
import { partsOf } from "./document.ts";

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
