import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { History, Needs } from "#content/contract/enrichment-answers.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { runImport } from "#scripts/import/run-import.ts";
import { importRequest } from "#test/support/importing.ts";
import { aNonprofit, anEin } from "#test/support/records.ts";
import { aClient, theService, testNow } from "#test/support/service.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const service = await theService({ env: { ALMONER_TRUSTED_HOPS: "1" } });
const folder = theFolder();

let numbers = 0;
/** A listed nonprofit, and what it filed: form 1023-EZ. */
async function aFiler(parts: Partial<NonprofitRecord> = {}) {
  const ein = String(770_000_000 + ++numbers);
  const registrations = [anEin(ein)];
  const [record] = await service.add(aNonprofit({ country_code: "US", registrations, ...parts }));
  const { slug = "" } = record ?? {};
  const load = (format: string, csv: string) => {
    const file = join(folder, `${format}-${ein}.csv`);
    writeFileSync(file, csv);
    const { dataDir } = service.context.config;
    const request = importRequest({ store: service.store, dataDir }, format);
    const read = { files: [file], fetched: null, asOf: "2026-05-01", clock: () => testNow };
    return runImport({ ...request, ...read });
  };
  const ez = (year: number, website: string, mission = "") =>
    load(
      "irs-1023ez",
      `EIN,NAME,TAXYR,F9_03_PZ_MISSION,Orgurl,Incorporateddate\n${ein},Sample,${year},${mission},${website},\n`,
    );
  return { slug, ez, record: () => service.live(slug) };
}

async function agreeOn(slug: string, field: string, value: string) {
  const outcomes: string[] = [];
  for (const agent_id of ["bot-a", "bot-b"]) {
    const answer = await service.post(`/api/enrich/${slug}`, { field, value, agent_id }, aClient());
    const { status, promotion_note } = (await answer.json()).submissions[0];
    outcomes.push(promotion_note.startsWith("Logged for audit") ? "audit" : status);
  }
  return outcomes;
}

const historyOf = async (slug: string): Promise<History["changes"]> =>
  (await service.json(`/api/history/${slug}`)).changes;
/** How the history shows a form that gave way. */
const filedIn = (source: string, form: string, period_end: string) => ({
  filed: { source, form, period_end },
});

test("what agents agreed on in the place of an old filing stands, whatever is read later; all of it is in the history", async () => {
  const { slug, ez, record } = await aFiler();
  await ez(2021, "filed.example");
  await agreeOn(slug, "website", "https://agreed.example");
  for (const year of [2021, 2025]) await ez(year, "other.example");
  expect(await record()).toMatchObject({
    website: "https://agreed.example",
    provenance: { website: { set_by: "consensus" } },
  });
  const [agreed, imported] = await historyOf(slug);
  const change = { field: "website", old: "https://filed.example", new: "https://agreed.example" };
  const filing = filedIn("irs-1023ez", "IRS Form 1023-EZ", "2021-12-31");
  expect(agreed).toMatchObject({ by: "agents", values: [{ ...change, ...filing }] });
  const first = { field: "website", old: null, new: "https://filed.example" };
  expect(imported).toMatchObject({ by: "register", values: [first] });
  expect(imported?.values?.[0]).not.toHaveProperty("filed");
});

test("a later form that says the same makes a value younger, and closes it to agents", async () => {
  const { slug, ez, record } = await aFiler();
  await ez(2021, "filed.example");
  await ez(2025, "filed.example");
  expect(await record()).toMatchObject({
    provenance: { website: { applied_at: Date.parse("2025-12-31") } },
  });
  expect(await agreeOn(slug, "website", "https://agreed.example")).toEqual(["audit", "audit"]);
  expect(await ez(2021, "filed.example")).toMatchObject({ changed: 0 });
});

test("what waits for a second agent stays open while another field is filled, and no longer once a new form says it", async () => {
  const { slug, ez } = await aFiler();
  await ez(2021, "filed.example");
  const mine = { field: "website", value: "https://agreed.example", agent_id: "bot-c" };
  const waiting = `SELECT s.id FROM submissions AS s JOIN nonprofits AS n ON n.id = s.nonprofit_id
                   WHERE n.slug = ? AND s.audit_only = 0 AND s.status = 'pending'`;
  await service.post(`/api/enrich/${slug}`, mine, aClient());
  await agreeOn(slug, "city", "Reno");
  expect(await service.rows(waiting, [slug])).toHaveLength(1);
  await ez(2025, "newer.example");
  expect(await service.rows(waiting, [slug])).toEqual([]);
});

test("needs-enrichment does not ask for what a form holds", async () => {
  const { slug, ez } = await aFiler({ beneficiaries_per_year: 1_000_000 });
  const needs = async (query: string) => {
    const { nonprofits }: Needs = await service.json(`/api/needs-enrichment?limit=50${query}`);
    return nonprofits.find((one) => one.slug === slug)?.needs_fields;
  };
  expect(await needs("")).toEqual(expect.arrayContaining(["website", "mission"]));
  expect(await needs("&field=website")).toBeDefined();
  await ez(2021, "filed.example", "We feed people who are hungry.");
  expect(await needs("")).not.toContain("website");
  expect(await needs("")).not.toContain("mission");
  expect(await needs("&field=website")).toBeUndefined();
});
