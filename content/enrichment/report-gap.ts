import { type GapAnswer, GapBody, gapLimits } from "#content/contract/correction.ts";
import { fitted, type Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Clock, isoDay } from "#content/contract/base/time.ts";
import { unknownValues } from "#content/find/query.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import { wantedBy } from "#content/nonprofit/filters.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { readSentences } from "#content/nonprofit/text.ts";
import { requestDigest } from "#content/operation/idempotency-store.ts";
import { carryOut, type Plan, planned } from "#content/operation/plan.ts";
import { rowBytes, sizeOf } from "#content/requests/quota.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { addGap, type NewGap, reportedOn } from "./gap-store.ts";

export type GapFailure =
  | { kind: "invalid_gap"; errors: Wrong[] }
  | { kind: "nonprofit_not_found" }
  | { kind: "too_many_gaps" };

type Gap = Pick<NewGap, "looked_for" | "field" | "cause" | "country_code"> & {
  slug: string | null;
};

/** Counts what someone looked for and did not find. Equal reports from one network on one day count once. */
export async function reportGap(
  { store, clock, baseUrl }: { store: Store; clock: Clock; baseUrl: string },
  input: { body: unknown; network: string; countStored: (bytes: number) => void },
): Promise<Result<GapAnswer, GapFailure>> {
  const read = readGap(input.body);
  if (!read.ok) return fail({ kind: "invalid_gap", errors: read.failure });
  const day = isoDay(clock().getTime());
  const counted = await store.write(async (tx) =>
    carryOut(tx, await planGap(tx, read.value, { day, network: input.network })),
  );
  if (!counted.ok) return counted;
  if (counted.value) input.countStored(rowBytes + sizeOf(read.value.looked_for));
  return ok({
    success: true,
    counted: counted.value,
    message: counted.value ? "Thank you: it is counted." : "It was counted today already.",
    counts_url: `${baseUrl}/api/gaps`,
  });
}

/** Reads the body of POST /api/gaps. An unknown cause or country is an error that suggests the nearest known one. */
function readGap(body: unknown): Result<Gap, Wrong[]> {
  const shaped = fitted(GapBody, body);
  if (!shaped.ok) return shaped;
  const { field = null, cause, country, slug, ...sent } = shaped.value;
  const text = readSentences("looked_for", sent.looked_for, gapLimits.characters);
  if (!text.ok) return fail([{ path: "looked_for", message: text.failure }]);
  const country_code = country === null ? null : countryOf(country);
  const filters = { cause: cause ?? undefined, country: country_code ?? country ?? undefined };
  const unknown = unknownValues(filters).map(({ filter, message }) => ({ path: filter, message }));
  if (unknown.length > 0) return fail(unknown);
  const id = cause === null ? null : wantedBy("cause", cause);
  return ok({ looked_for: text.value, field, cause: id, country_code, slug });
}

/** The planned answer is whether the report counts. */
async function planGap(
  store: Queryable,
  { slug, ...gap }: Gap,
  sender: Pick<NewGap, "day" | "network">,
): Promise<Plan<boolean, GapFailure>> {
  const record = slug === null ? null : await recordBySlug(store, slug);
  if (slug !== null && record === null) return fail({ kind: "nonprofit_not_found" });
  const about = { ...gap, ...sender, nonprofit_id: record?.id ?? null };
  const row = { ...about, digest: requestDigest(about) };
  const { same, ofNetwork, ofAll } = await reportedOn(store, row);
  if (same) return planned(ok(false));
  const isFull = ofNetwork >= gapLimits.ofNetwork || ofAll >= gapLimits.ofAll;
  return isFull ? fail({ kind: "too_many_gaps" }) : planned(ok(true), addGap(row));
}
