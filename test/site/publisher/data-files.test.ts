import { expect, test } from "bun:test";
import { feedPaths } from "#content/contract/feed.ts";
import { openDataFiles } from "#site/publisher/feed-job.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import { rollBackTo } from "#site/publisher/requests.ts";
import { theBuiltDirectory } from "#test/support/publisher.ts";

const directory = await theBuiltDirectory([{ slug: "trust-a" }, { slug: "trust-b" }]);

const context = () => directory.publisher.context;
const hashes = () =>
  context()
    .manifest.under(feedPaths.data)
    .map(({ digest }) => digest);
/** The digests that the page names, in each language. */
const named = () =>
  ["data.html", "es/data.html", "fr/data.html", "data.md"].map(
    (path) => new Set(directory.read(path)?.match(/\b[0-9a-f]{64}\b/g)),
  );
const packaged = () =>
  [...(directory.read(feedPaths.dataPackage)?.matchAll(/"sha256:(\w+)"/g) ?? [])].map(
    ([, digest = ""]) => digest,
  );

test("the files follow each publication, and the page names them in each language", async () => {
  const before = hashes();
  expect(before).toHaveLength(5);
  await directory.publish("trust-a", { tagline: "Clean water" });
  expect(hashes()).toEqual(expect.arrayContaining(packaged()));
  expect(hashes()).not.toEqual(before);
  for (const digests of named()) expect(digests).toEqual(new Set(packaged()));
  const page = directory.read("data.html") ?? "";
  const [, jsonLd = ""] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? [];
  const table = { contentUrl: "http://localhost:8080/data/nonprofits.csv.gz" };
  expect(JSON.parse(jsonLd)).toMatchObject({
    "@type": "Dataset",
    distribution: [{ ...table, encodingFormat: "text/csv", sha256: packaged()[0] }, {}, {}, {}],
  });
});

test("paced, files are made while others go on, once an hour at most", async () => {
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const { background } = context();
  const makeData = () => (runs++, gate.promise.then(() => background.makeData()));
  const own = { ...context(), background: { ...background, makeData } };
  const files = openDataFiles(own, 0);
  const run = () => files.run({ full: false, paced: true });
  const edited = async (tagline: string) => {
    await directory.edit("trust-a", { tagline });
    await publishChanges(context());
  };
  expect(await run()).toEqual([]);
  expect(files.dueAtMs()).toBe(Infinity);
  await edited("One");
  expect(await run()).toEqual([]);
  expect(runs).toBe(1);
  expect(files.dueAtMs()).toBeGreaterThan(performance.now() + 3_000_000);
  gate.resolve();
  while (files.dueAtMs() > 0) await Bun.sleep(1);
  expect((await run()).map(({ path }) => path)).toContain("data/nonprofits.parquet");
  await edited("Two");
  expect(await run()).toEqual([]);
  expect(runs).toBe(1);
  await directory.drain();
});

test.each([
  [new AbortController().signal, ["files of /data could not be made; trying again in an hour"]],
  [AbortSignal.abort(), []],
])(
  "files that cannot be made are logged unless the publisher ends, and those before them stay",
  async (signal, lines) => {
    const logged: string[] = [];
    const own = {
      ...context(),
      log: (event: string) => void logged.push(event),
      background: {
        ...context().background,
        makeData: () => Promise.reject(new Error("disk full")),
      },
    };
    const before = hashes();
    const files = openDataFiles(own, 0);
    expect(await files.run({ full: true, paced: true, signal })).toEqual([]);
    await Bun.sleep(0);
    expect(logged).toEqual(lines);
    expect(hashes()).toEqual(before);
    await directory.drain();
  },
);

test("while a rollback holds publishing the files stay as they are", async () => {
  const { current_release } = context().manifest.state();
  await directory.publish("trust-a", { tagline: "Three" });
  const before = hashes();
  const files = openDataFiles(context(), 0);
  await files.run({ full: true, paced: true });
  while (files.dueAtMs() > 0) await Bun.sleep(1);
  expect(rollBackTo(context(), current_release)).not.toBeNull();
  // Otherwise the feed job would run without a pause.
  expect(files.dueAtMs()).toBe(Infinity);
  await directory.publisher.feedJob.run();
  expect(hashes()).toEqual(before);
  context().manifest.setState({ held_at: 0 });
  await directory.drain();
  expect(hashes()).toEqual(before);
  for (const digests of named()) expect(digests).toEqual(new Set(packaged()));
});
