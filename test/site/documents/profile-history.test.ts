import { expect, test } from "bun:test";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { profileHistory } from "#site/documents/profile.ts";
import { staleLater } from "#site/documents/document.ts";
import { aSite, textOf } from "#test/support/compiled-site.ts";
import { aChange, aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const site = await aSite([{ slug: "oak" }, { slug: "elm" }]);
const service = await theService({ context: { store: site.store } });

const submit = (agent_id: string, field: string, value: string) =>
  service.post("/api/enrich/oak", { field, value, agent_id });
const served = async (slug: string) => (await service.get(`/api/history/${slug}`)).text();
const path = (slug: string) => `api/history/${slug}.json`;
const historyKey = (id: number) => `profile-history ${id}`;

test("is the same bytes in the bundle as from the service, alone and in a batch", async () => {
  await submit("bot-a", "contact_email", "Jane@oak.example");
  await submit("bot-b", "contact_email", "jane@oak.example");
  const before = await recordBySlug(site.store, "elm");
  if (before === null) throw new Error("elm is missing");
  await site.save([{ ...before, country_code: "NO" }], [before]);
  expect(await site.files(historyKey(1))).toEqual({ [path("oak")]: await served("oak") });
  const batch = await profileHistory.render([2, 1, 99].map(historyKey), site);
  expect(batch.map((file) => ({ ...file, body: textOf(file.body) }))).toEqual([
    { path: path("elm"), body: await served("elm") },
    { path: path("oak"), body: await served("oak") },
  ]);
  expect(JSON.parse(await served("elm")).changes[0].fields).toEqual(["country"]);
  expect(await served("oak")).toContain('"value":"j…@oak.example","agent_name":"bot-a"');
  expect(await served("oak")).not.toMatch(/jane@/i);
});

test("stands in the bundle for every profile that is not as it was added, and follows each change", async () => {
  const [fresh] = await site.save([aNonprofit({ slug: "ash" })]);
  const keys: string[] = [];
  for await (const batch of profileHistory.all(site)) keys.push(...batch);
  expect(keys).toEqual([1, 2].map(historyKey));
  expect(await site.files(historyKey(fresh?.id ?? 0))).toEqual({ [path("ash")]: null });
  expect(JSON.parse(await served("ash"))).toMatchObject({ count: 1, changes: [{ kind: "added" }] });
  const change = aChange({ nonprofit_id: 2, fields: ["provenance"], origin: "corroboration" });
  expect(staleLater(documentKinds, change, new Map()).keys).toContain(historyKey(2));
});

test("tells the newest 200 changes, and of them alone who agreed", async () => {
  const [made] = await site.save([aNonprofit({ slug: "fir" })]);
  let before = made;
  for (let at = 0; at < 201 && before !== undefined; at++) {
    [before] = await site.save([{ ...before, team_size: at }], [before]);
  }
  const told = JSON.parse(await served("fir")) as { count: number; changes: { kind: string }[] };
  expect([told.count, told.changes.length]).toEqual([202, 200]);
  expect(told.changes.every(({ kind }) => kind === "changed")).toBe(true);
});

test("says of single values what they were and what they became", async () => {
  const [made] = await site.save([aNonprofit({ slug: "yew", city: "Reno" })]);
  if (made === undefined) throw new Error("yew is missing");
  const moved = { ...made, city: "Sparks", contact_email: "jane@yew.example", causes: ["health"] };
  const [second] = await site.save([moved], [made]);
  await site.save([{ ...moved, id: made.id, city: null, country_code: "NO" }], second && [second]);
  const told = JSON.parse(await served("yew")) as { changes: { values?: object[] }[] };
  const [last = [], first = [], added] = told.changes.map(({ values }) => values);
  expect(last).toContainEqual({ field: "city", old: "Sparks", new: null });
  expect(last).toContainEqual({ field: "country", old: "Kenya", new: "Norway" });
  expect(first).toContainEqual({ field: "city", old: "Reno", new: "Sparks" });
  expect(first).toContainEqual({ field: "contact_email", old: null, new: "j…@yew.example" });
  expect([first.length, last.length, added]).toEqual([2, 2, undefined]);
});
