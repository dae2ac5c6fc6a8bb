import { expect, test } from "bun:test";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { releaseBefore } from "#site/bundle/rollback.ts";
import { rollBackTo } from "#site/publisher/requests.ts";
import { theBuiltDirectory } from "#test/support/publisher.ts";

const directory = await theBuiltDirectory([
  { slug: "trust-a", tagline: "line 0", causes: ["education"] },
  { slug: "trust-b", causes: ["education"] },
]);
for (const line of [1, 2, 3]) {
  await directory.edit("trust-a", { tagline: `line ${line}` });
  if (line === 3) await directory.add({ slug: "newcomer" });
  await runProfileJob(directory.publisher.context);
  // Numbers of the directory, which no one would go back from.
  await directory.store.write((tx) =>
    saveDirectoryFact(tx, { name: "leaderboard", value: `${line}`, now: new Date() }),
  );
  await directory.drain();
}

const backBy = (publications: number) => {
  const target = releaseBefore(directory.publisher.context.manifest, publications);
  return target === null ? null : rollBackTo(directory.publisher.context, target);
};
const line = (path: string) => /line \d/.exec(directory.read(path) ?? "")?.[0];
const shown = () => [
  line("nonprofits/trust-a.html"),
  line("nonprofits/trust-a.md"),
  line("causes/education.html"),
];

test("one step back is the whole of the newest change, and another goes on from there", () => {
  const { manifest } = directory.publisher.context;
  for (const [back, number] of [3, 2, 1].entries()) {
    if (back > 0) expect(backBy(1)).not.toBeNull();
    expect(shown()).toEqual(Array.from({ length: 3 }, () => `line ${number}`));
    expect(manifest.state().held_at > 0).toBe(back > 0);
    expect(directory.read("nonprofits/newcomer.html") === null).toBe(back > 0);
  }
});

test("beyond what is kept there is nothing", () => {
  expect(backBy(5)).toBeNull();
  expect(rollBackTo(directory.publisher.context, 100_000)).toBeNull();
  expect(backBy(1)).not.toBeNull();
  expect(shown()).toEqual(["line 0", "line 0", "line 0"]);
});

test("the way forward again ends where a full build finds nothing that differs", async () => {
  directory.publisher.context.manifest.setState({ held_at: 0 });
  await directory.drain();
  expect(shown()).toEqual(["line 3", "line 3", "line 3"]);
  expect(await directory.rebuilt()).toEqual([]);
});
