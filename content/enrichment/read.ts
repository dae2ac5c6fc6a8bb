import type { z } from "zod";
import {
  batchItemsMax,
  type EnrichableField,
  type EnrichmentBody,
  type EnrichmentItem,
  type FieldType,
  fieldTypeOf,
  whichField,
} from "#content/contract/enrichment.ts";
import { type Wrong, wrongsMax } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Agent, readAgent } from "./agent.ts";
import { checkSourceUrl, checkValue, isTestData } from "./value.ts";

export type ReadItem = {
  field: EnrichableField;
  field_type: FieldType;
  value: string;
  normalised_value: string;
  source_url: string | null;
  test_data: boolean;
};

/** A request to enrich, checked and cleaned: each field at most once, at least one item. */
export type EnrichmentRequest = Agent & { items: ReadItem[] };

/**
 * Reads the body of POST /api/enrich/{slug}: one submission, a batch, or both. One bad item refuses the whole, and every
 * bad one is named by its path. Source: the decisions of the spec, "Enrichment".
 */
export function readEnrichment(
  body: EnrichmentBody,
  { thisYear }: { thisYear: number },
): Result<EnrichmentRequest, Wrong[]> {
  const { fields = [] } = body;
  const single = singleItem(body);
  if (!single.ok) return single;
  // What stands beside the batch is where all of its items were found that do not say otherwise.
  const batch = fields.map((field, at) => {
    const item = { ...field, source_url: field.source_url ?? body.source_url };
    return { item, path: `fields[${at}]` };
  });
  const sentItems = [...single.value, ...batch];
  if (sentItems.length === 0) {
    const message = "Send field and value, or fields: an array of {field, value, source_url}.";
    return fail([{ path: "", message }]);
  }
  if (sentItems.length > batchItemsMax) {
    return fail([{ path: "fields", message: `A batch may hold at most ${batchItemsMax} fields.` }]);
  }
  const { agent, wrongs: wrongNames } = readAgent(body);
  const wrongs: Wrong[] = [...wrongNames];
  const items: ReadItem[] = [];
  const seen = new Set<string>();
  for (const { item, path } of sentItems) {
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    if (seen.has(item.field)) {
      const message = `${item.field} is in this batch twice: send each field once.`;
      wrongs.push({ path: at("field"), message });
    }
    seen.add(item.field);
    const read = readItem(item, agent, thisYear);
    if (read.ok) items.push(read.value);
    else wrongs.push(...read.failure.map((wrong) => ({ ...wrong, path: at(wrong.path) })));
  }
  return wrongs.length > 0 ? fail(wrongs.slice(0, wrongsMax)) : ok({ ...agent, items });
}

type Item = z.infer<typeof EnrichmentItem>;

/** One item, checked; what is wrong is named by its member. */
function readItem(item: Item, agent: Agent, thisYear: number): Result<ReadItem, Wrong[]> {
  const { field } = item;
  const value = checkValue(field, item.value, { thisYear });
  const source = checkSourceUrl(item.source_url);
  if (!value.ok || !source.ok) {
    return fail([
      ...(value.ok ? [] : [{ path: "value", message: value.failure.message }]),
      ...(source.ok ? [] : [{ path: "source_url", message: source.failure.message }]),
    ]);
  }
  return ok({
    field,
    field_type: fieldTypeOf(field),
    ...value.value,
    source_url: source.value,
    test_data: isTestData({ field, ...value.value, ...agent }),
  });
}

/** `field` beside `fields` is one more item; one of `field` and `value` without the other is a slip. */
function singleItem(body: EnrichmentBody): Result<{ item: Item; path: string }[], Wrong[]> {
  const { field, value, source_url } = body;
  if (field === undefined && value === undefined) return ok([]);
  if (field === undefined) {
    return fail([{ path: "field", message: whichField }]);
  }
  if (value === undefined)
    return fail([{ path: "value", message: `value must be the ${field}, as text.` }]);
  return ok([{ item: { field, value, source_url }, path: "" }]);
}
