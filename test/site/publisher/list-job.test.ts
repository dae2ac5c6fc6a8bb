import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { deletePick, setPick } from "#content/recommendation/pick-store.ts";
import { doAll } from "#content/store/query.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { buildBundle } from "#site/publisher/full-build.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import { releases } from "#site/bundle/release.ts";
import { theBuiltDirectory, plainFolder } from "#test/support/publisher.ts";

const charityNumber = (registration_number: string) => ({
  country_code: "GB",
  type: "Charity number (Scotland)",
  registration_number,
  org_id: `GB-SC-${registration_number}`,
});
const some = Array.from({ length: 120 }, (_, at) => ({
  slug: `trust-${at}`,
  name: `Trust ${String(at).padStart(3, "0")}`,
  causes: at < 110 ? ["education"] : ["health"],
  mission: "Schools for all.",
  registrations: [charityNumber(`SC0416${at}`)],
}));
const directory = await theBuiltDirectory(some, { exported: true });

const { store } = directory;
const home = () => directory.read("index.html") ?? "";
const idOfPick = async () => (await recordBySlug(store, "trust-50"))?.id ?? 0;
/** Publishes pages and lists, but no feed. */
const publish = async (...change: Parameters<typeof directory.edit>) => {
  await directory.edit(...change);
  await publishChanges(directory.publisher.context);
};
const inFolder = (path: string) => readFileSync(join(plainFolder(directory.dataDir), path), "utf8");

describe("a change that keeps its place", () => {
  test("is live after the profile job alone, in at most 12 files", async () => {
    await directory.edit("trust-7", { tagline: "Every child at school" });
    expect(await runProfileJob(directory.publisher.context)).toBe(1);
    for (const ending of ["html", "md"])
      expect(directory.read(`nonprofits/trust-7.${ending}`)).toContain("Every child at school");
    expect(directory.read("api/nonprofits/trust-7.json")).toContain("Every child at school");
    expect(inFolder("nonprofits/trust-7.html")).toContain("Every child at school");
    const [newest] = releases(directory.publisher.context.manifest, 1);
    expect(newest?.changed_files).toBeLessThanOrEqual(12);
  });
  test("taken twice makes no second release", async () => {
    const { manifest } = directory.publisher.context;
    const { current_release, fast_sequence } = manifest.state();
    manifest.setState({ fast_sequence: fast_sequence - 1 });
    await runProfileJob(directory.publisher.context);
    expect(manifest.state()).toMatchObject({ current_release, fast_sequence });
  });
});

describe("a change that moves others", () => {
  test("reaches every page of its lists by the list job", async () => {
    await publish("trust-109", { beneficiaries_per_year: 9_000 });
    expect(directory.read("causes/education.html")).toContain("trust-109");
    expect(directory.read("causes/education-2.html")).not.toContain('"/nonprofits/trust-109"');
  });
  test("a withdrawn nonprofit leaves the lists and keeps its page", async () => {
    await publish("trust-7", { status: "withdrawn" });
    expect(directory.read("causes/education.html")).not.toContain('/nonprofits/trust-7"');
    expect(directory.read("nonprofits/trust-7.html")).toContain("Trust 007");
    expect(JSON.parse(directory.read("api/nonprofits/trust-7.json") ?? "").status).toBe(
      "withdrawn",
    );
  });
  test("a page beyond the end of a list goes", async () => {
    for (let at = 98; at < 108; at++) await directory.edit(`trust-${at}`, { causes: ["health"] });
    await publish("trust-108", { causes: ["health"] });
    expect(directory.read("causes/education-2.html")).toBeNull();
  });
  test("so does what is recommended, and what that is called, the home page", async () => {
    const pick = { recommended_for: ["giving to schools"], updated_at: 0 };
    const why_recommended = "The profile names its schools.";
    const nonprofit_id = await idOfPick();
    await store.write((tx) => doAll(tx, setPick({ nonprofit_id, ...pick, why_recommended })));
    await publishChanges(directory.publisher.context);
    expect(home()).toContain("The profile names its schools.");
    await publish("trust-50", { name: "Fifty Schools" });
    expect(home()).toContain("Fifty Schools");
  });
  test("a full build then finds nothing that differs, though something is written meanwhile", async () => {
    const { context, ...jobs } = directory.publisher;
    const writing = context.kinds.map((kind) => ({
      ...kind,
      all: async function* (source: typeof context.source) {
        if (kind.kind === "profile") {
          await directory.edit("trust-5", { tagline: "Written meanwhile", country_code: "SE" });
        }
        yield* kind.all(source);
      },
    }));
    const outcome = await buildBundle(
      { ...jobs, context: { ...context, kinds: writing } },
      { processes: 2, feedLater: true },
    );
    expect(outcome).toMatchObject({ differing: [], failed: [], waiting: 0 });
    expect(directory.read("nonprofits/trust-5.html")).toContain("Written meanwhile");
    await directory.drain();
    expect(await directory.rebuilt()).toEqual([]);
  });
});

test("the home page no longer shows what is recommended no more", async () => {
  const nonprofit_id = await idOfPick();
  await store.write((tx) => doAll(tx, deletePick(nonprofit_id, 0)));
  await publishChanges(directory.publisher.context);
  expect(home()).not.toContain("Fifty Schools");
});
