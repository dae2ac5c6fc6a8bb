import { safeLink } from "#content/nonprofit/safe-link.ts";
import { ok, type Result } from "#content/contract/base/result.ts";
import { RecordLine, mergedWithLine, recordOfLine } from "#content/nonprofit/record-line.ts";
import { orgIdsOf } from "#content/nonprofit/save.ts";
import { idsBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { unsafeCharacter } from "#content/nonprofit/text.ts";
import type { Outcome, Planner } from "./apply-rows.ts";
import { idsByOrgId, knownIds } from "./import-store.ts";
import { skipOrRefuse, type StageContext, type StageFailure, type Staging } from "./stage-rows.ts";

/** A file of our own records: one per line, as JSON. */
export type RecordFile = { name: string; lines: AsyncIterable<{ text: string; line: number }> };

/** Checks and stages lines of our own NDJSON. Ids, slugs and org-ids must be unique over all files. */
export async function stageRecords(
  files: Iterable<RecordFile>,
  context: Omit<StageContext, "clock">,
): Promise<Result<null, StageFailure>> {
  const { staging, report, signal } = context;
  for (const { name: file, lines } of files) {
    for await (const { text, line } of lines) {
      if (signal.aborted) return ok(null);
      report.rows += 1;
      const problem = stageLine(text, staging);
      if (problem === null) continue;
      const skipped = skipOrRefuse({ file, line, problem }, context);
      if (!skipped.ok) return skipped;
    }
  }
  return ok(null);
}

/** Stages one line; returns what is wrong with it, or null. */
function stageLine(text: string, staging: Staging): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "this is not JSON";
  }
  const parsed = RecordLine.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not valid"}`;
  }
  const fault = textFault(parsed.data);
  if (fault !== null) return fault;
  const { id, slug, registrations } = parsed.data;
  const marks = [
    `~slug ${slug}`,
    ...registrations.flatMap(({ org_id }) => (org_id === null ? [] : [`~org ${org_id}`])),
  ];
  if (staging.has([keyOf(id), ...marks]))
    return `id ${id}, slug ${slug} or an org-id of it came before`;
  const put = (key: string, payload: string) =>
    staging.put({ key, rank: "", scope: "", as_of: "", payload });
  for (const mark of marks) put(mark, "");
  put(keyOf(id), JSON.stringify(parsed.data));
  return null;
}

/** The longest text of a record; agents may send at most 5,000 characters. */
const textLengthMax = 20_000;

/** What is wrong with texts and links of a record, or null: pages and agents get them unchanged. */
function textFault(record: RecordLine): string | null {
  for (const name of ["website", "donation_url", "logo_url"] as const) {
    const link = record[name];
    if (link !== null && safeLink(link) === null) return `${name}: send an http or https URL`;
  }
  const walk = (value: unknown, path: string): string | null => {
    if (typeof value === "string") {
      if (value.length > textLengthMax) return `${path}: at most ${textLengthMax} characters`;
      const unsafe = unsafeCharacter(value, { prose: true });
      return unsafe === null ? null : `${path}: holds the character ${unsafe}`;
    }
    if (typeof value !== "object" || value === null) return null;
    for (const [key, part] of Object.entries(value)) {
      const fault = walk(part, path === "" ? key : `${path}.${key}`);
      if (fault !== null) return fault;
    }
    return null;
  };
  return walk(record, "");
}

/** A key that sorts like the id. */
const keyOf = (id: number): string => String(id).padStart(16, "0");

/**
 * Plans staged records in order of id: in an empty store they make the same directory. A record is recognised by its slug,
 * else by an org-id; another nonprofit's id or org-id is never taken over.
 */
export const recordPlanner: Planner = {
  origin: "import:ndjson",
  keepTimes: true,
  plan: async (store, rows) => {
    const lines = rows.map(({ payload }) => RecordLine.parse(JSON.parse(payload)));
    const slugs = lines.map(({ slug }) => slug);
    const bySlug = await idsBySlug(store, slugs);
    const byOrgId = await idsByOrgId(store, lines.flatMap(orgIdsOf));
    const ids = lines.map(({ id }) => id);
    const used = await knownIds(store, ids);
    const stored = await recordsById(store, [
      ...new Set([...bySlug.values(), ...byOrgId.values()]),
    ]);
    const records = new Map(stored.map((record) => [record.id, record]));
    return lines.map((line): Outcome => {
      const owners = new Set(orgIdsOf(line).flatMap((orgId) => byOrgId.get(orgId) ?? []));
      const id = bySlug.get(line.slug) ?? [...owners][0];
      if ([...owners].some((owner) => owner !== id)) return "duplicate";
      const before = records.get(id ?? 0);
      if (before === undefined) {
        const record = recordOfLine(line);
        return { before: null, after: used.has(line.id) ? { ...record, id: 0 } : record };
      }
      const after = mergedWithLine(before, line);
      return after === before ? "unchanged" : { before, after };
    });
  },
};
