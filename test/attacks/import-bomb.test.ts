import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { zipOf } from "#test/support/zip.ts";
import { outcome, registerFile, theImporting } from "#test/support/importing.ts";
import { isFull } from "#test/support/measured.ts";

// A packed file of some kB holds one row of hundreds of MB.

const importing = await theImporting();

const [header = "", row = "", another = ""] = readFileSync(registerFile("eo_aa.csv"), "utf8").split(
  "\n",
);
const megabytes = isFull ? 700 : 24;

/** A member of a gzip file may follow another: the whole is as long as one likes. */
const bomb = (begin: string, piece: string) => {
  const million = gzipSync(piece.repeat(1_000_000 / piece.length));
  return Buffer.concat([gzipSync(begin), ...Array<Buffer>(megabytes).fill(million)]);
};

/** What an import of these bytes says; it takes less than 150 MB. */
async function saidOf(format: string, name: string, bytes: Uint8Array, options = {}) {
  const before = process.memoryUsage().rss;
  const said = await outcome(importing.run(format, [importing.file(name, bytes)], options));
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  return said;
}

const start = `${header}\n${row}\n`;
test.each([
  ["irs-bmf", "one text", `${start}1,`, "a"],
  ["irs-bmf", "fields without end", `${start}1,`, ","],
  ["irs-bmf", "a quote over many lines", `${start}1,"`, "aaaa\n"],
  ["irs-bmf", "quotes", `${start}1,"`, '""'],
  ["irs-bmf", "columns without end", "EIN,", ","],
  ["ndjson", "one line", '{"id":1,"name":"', "a"],
])(
  "%s: %s is refused as it is read, also where bad rows are left out",
  async (format, _, begin, piece) => {
    const bytes = bomb(begin, piece);
    for (const skipBad of [false, true])
      expect(await saidOf(format, "bomb.gz", bytes, { skipBad })).toMatch(
        /bomb\.gz, line \d+: no row ends within 1 MB/,
      );
    expect(await importing.slugs()).toEqual([]);
  },
);

test("a zip file is no way around it", async () => {
  const bytes = zipOf({ "x.csv": `${start}1,${",".repeat(megabytes * 1_000_000)}` });
  expect(bytes.length).toBeLessThan(megabytes * 2_000);
  const said = await saidOf("irs-bmf", "bomb.zip", bytes);
  expect(said).toMatch(/bomb\.zip, line \d+: no row ends within 1 MB/);
});

test("bad rows one after the other are not one without end", async () => {
  // As many fields as the header: the quotes alone are bad, two in each row.
  const bad = `1,a"b"c,${"3".repeat(500)}${",".repeat(header.split(",").length - 3)}\n`;
  const rows = Math.ceil(1_500_000 / bad.length);
  const file = importing.file("x.csv", `${header}\n${bad.repeat(rows)}${row}\n`);
  const skipped = await importing.run("irs-bmf", [file], { skipBad: true });
  expect(skipped).toMatchObject({ added: 1, skipped_because: { bad: rows } });
});

test("many bad rows are left out as before, and lines end as before", async () => {
  const bad = `1,2,${"3".repeat(100)}\n`;
  const file = importing.file("x.csv", `${header}\n${bad.repeat(15_000)}${another}\n`);
  const skipped = await importing.run("irs-bmf", [file], { skipBad: true });
  expect(skipped).toMatchObject({ added: 1, skipped_because: { bad: 15_000 } });
  const lines = importing.file("x.ndjson", "\n\r\n{}\r\n");
  expect(await outcome(importing.run("ndjson", [lines]))).toMatch(/line 3: id/);
});
