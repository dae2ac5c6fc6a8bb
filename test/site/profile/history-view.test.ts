import { expect, test } from "bun:test";
import type { FoundHistory } from "#content/contract/enrichment-answers.ts";
import { english } from "#content/language/texts.ts";
import { historyView } from "#site/profile/history-view.ts";

type Change = FoundHistory["history"]["changes"][number];

const aChange = (parts: Partial<Change>): Change => ({
  sequence: 1,
  kind: "changed",
  fields: [],
  origin: "onboarding",
  by: "organisation",
  changed_at: "2026-01-12T06:00:00Z",
  ...parts,
});
const viewOf = (changes: Change[], count = changes.length) =>
  historyView(
    {
      name: "Hope Kitchen",
      contested: [],
      gifts: null,
      history: { slug: "hope-kitchen", count, changes },
    },
    english,
  );
const shown = (change: Change) => viewOf([change]).changes[0];

test("a history that is longer than its page says how long it is", () => {
  const changes = [aChange({}), aChange({})];
  expect(viewOf(changes, 205).intro).toMatch(/^205 changes.*The newest 2 are here\./);
  expect(viewOf(changes).intro).toStartWith("2 changes, the newest of ");
});

test("a claim is told as one, and not by the names of its flags", () => {
  const fields = ["mission", "programs", "verified", "status", "provenance"];
  const values = [{ field: "mission", old: null, new: "To feed" }];
  expect(shown(aChange({ fields, values }))).toMatchObject({
    title: "Claimed by the organisation",
    who: "The organisation itself",
    others: "Also changed: programmes",
  });
});

test("what an organisation says later is a change like others", () => {
  const fields = ["programs", "provenance"];
  expect(shown(aChange({ fields }))).toMatchObject({
    title: "Changed",
    others: "Changed: programmes",
  });
});

test("a profile of a sample comes from no register", () => {
  const added = aChange({ kind: "added", origin: "seed", by: "directory" });
  expect(shown(added)?.who).toBe("Invented sample data");
});

test("a value that the organisation filed stands with its form and year", () => {
  const of = (form: string) => ({
    field: "website",
    old: "https://a.example",
    new: "https://b.example",
    filed: { source: "irs-990", form, period_end: "2021-12-31" },
  });
  const values = [of("990-EZ"), of("IRS Form 1023-EZ")];
  expect(shown(aChange({ by: "register", fields: ["website"], values }))?.values).toEqual(
    ["Form 990-EZ", "IRS Form 1023-EZ"].map((form) => ({
      field: "Website",
      new: "https://b.example",
      old: `https://a.example (${form}, year to December 2021)`,
    })),
  );
});
