import { and, eq, isNull } from "drizzle-orm";
import type { FoundHistory } from "#content/contract/enrichment-answers.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { publicValue, tracedValues } from "#content/nonprofit/wire.ts";
import type { Queryable } from "#content/store/open.ts";
import { submissions } from "#content/store/tables/enrichment.ts";

const votesMax = 100;

/**
 * The fields of a nonprofit on which agents disagree with each other, or two of them with what is live: all sides, the
 * live one first. As public as second opinions are. Index: submissions_by_field.
 */
export async function contestedOf(
  store: Queryable,
  record: NonprofitRecord,
): Promise<FoundHistory["contested"]> {
  const s = submissions;
  const votes = await store.db
    .select()
    .from(s)
    .where(
      and(
        eq(s.nonprofit_id, record.id),
        eq(s.status, "pending"),
        eq(s.field_type, "structured"),
        eq(s.test_data, 0),
        isNull(s.reason),
      ),
    )
    .orderBy(s.id)
    .limit(votesMax);
  return [...Map.groupBy(votes, ({ field }) => field)].flatMap(([field, ofField]) => {
    const live = tracedValues({ ...record }, [field])?.[field] ?? null;
    // One agent alone does not contradict what is live.
    const sides = [...Map.groupBy(ofField, ({ normalised_value }) => normalised_value).values()]
      .filter((side) => side.some((one) => one.audit_only === 0 || one.confidence > 1))
      .map((side) => ({
        value: publicValue(field, side[0]?.value ?? ""),
        agents: [...new Set(side.map(publicName))],
      }))
      .filter(({ value }) => value !== live);
    const values = live === null ? sides : [{ value: live, agents: [] }, ...sides];
    return values.length < 2 ? [] : { field, values };
  });
}
