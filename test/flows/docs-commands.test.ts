import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { describeConfig } from "#api/config.ts";
import { blocks, mentioned, ours, root } from "#test/support/documented-commands.ts";
import { aGivingSite, type GivingSite } from "#test/support/giving-site.ts";
import { plainFolder } from "#test/support/publisher.ts";
import { runProgram, runScript } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();

// Every command of a block ```sh in README and docs is run against a directory, or its words are held against what the
// command takes, or it is in the list of what needs the outside. So is every command that stands in a sentence.

/** What documentation writes, and what a fresh directory has instead. */
const substitutions = (site: GivingSite, paid: string): [RegExp, string][] => [
  [/https:\/\/directory\.example|http:\/\/localhost:8080/g, site.origin],
  [/\$URL\b/g, site.origin],
  [/<slug>|some-slug/g, "hope-kitchen"],
  [/"tx_signature":"…"/g, `"tx_signature":"${paid}"`],
  // An id is taken by its owner before anything is sent under it.
  [/(\/api\/agents .*)research-bot-7/g, "$1another-bot"],
  [/https:\/\/…/g, "https://hope-kitchen.example/"],
];

/** Commands that need what a test does not have. By how they begin, with the reason. */
const outside: readonly [begins: RegExp, reason: string][] = [
  [
    /^python3 -m http.server /,
    "a host that maps nothing: test/scripts/export-plain.test.ts runs it",
  ],
  [/^npm install$/, "downloads packages; CI does it before every run"],
  [/^npm test$/, "runs this test"],
  [/^npm ci\b/, "downloads packages; CI does it before every run"],
  [
    /^npx @modelcontextprotocol\/inspector /,
    "a client of others; test/api/mcp speaks the protocol",
  ],
  [
    /^(?:wget|mv|rm -r|sed|xargs|rclone) /,
    "fetches a copy of another directory and swaps it in: test/scripts/verify.test.ts runs wget",
  ],
  [/^litestream /, "a program that neither npm nor Debian has"],
  [/^(useradd|install|systemctl|systemd-run|apt-get|cp|cd|varnishd) /, "sets up a server, as root"],
];

const settings = new Set(describeConfig().map(({ name }) => name));
const isSetting = (text: string) =>
  /^(?:export )?(?:[A-Z_0-9]+=\S*\s*)+$/.test(text) &&
  [...text.matchAll(/\b(ALMONER_[A-Z_0-9]+)=/g)].every(([, name = ""]) => settings.has(name));
const isRun = (text: string) => /^(?:curl|printf) /.test(text);
const isOutside = (text: string) => outside.some(([begins]) => begins.test(text));

test("every command of a block is run, checked, or listed with a reason; sentences name only scripts that exist", () => {
  const named = mentioned.filter(({ text }) => /^(?:bun|npm) run \w/.test(text));
  const unknown = [...blocks, ...named].filter(
    ({ text }) => !isRun(text) && !isOutside(text) && !isSetting(text) && ours(text) === null,
  );
  expect(unknown).toEqual([]);
  expect(blocks.length).toBeGreaterThan(60);
});

test("every reason is still needed", () => {
  const idle = outside.filter(([begins]) => !blocks.some(({ text }) => begins.test(text)));
  expect(idle).toEqual([]);
});

test("every command of ours has these subcommands and options, and gets what it needs", async () => {
  const asked = [
    ...blocks.map((line) => ({ ...line, whole: true })),
    ...mentioned.map((line) => ({ ...line, whole: false })),
  ].flatMap((line) => {
    const command = ours(line.text);
    return command === null ? [] : [{ ...line, ...command }];
  });
  const child = Bun.spawn([process.execPath, join(root, "test/support/commands-child.ts")], {
    stdin: new Blob([JSON.stringify(asked)]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const faults = (await new Response(child.stdout).json()) as (string | null)[];
  const wrong = asked
    .map(({ at, text }, nth) => ({ at, text, fault: faults[nth] }))
    .filter(({ fault }) => fault !== null);
  expect(wrong).toEqual([]);
  expect(asked.length).toBeGreaterThan(100);
});

describe.skipIf(Bun.which("curl") === null)("the requests, sent to a directory", () => {
  let site: GivingSite;
  let paid: string;
  beforeAll(async () => {
    const nonprofits = (wallet: string) => [
      {
        slug: "hope-kitchen",
        name: "Hope Kitchen",
        country_code: "KE",
        causes: ["education"],
        mission: "Clean water and warm meals.",
        website: null,
        usdc_wallet: wallet,
        registrations: [
          ["US", "EIN", "990305781", "US-EIN-990305781"],
          ["GB", "charity", "210183", "GB-CHC-210183"],
        ].map(([country_code = "", type = "", registration_number = "", org_id = ""]) => ({
          country_code,
          type,
          registration_number,
          org_id,
        })),
      },
    ];
    // Drafts are taken from phase 2 on.
    site = await aGivingSite(nonprofits, {}, { ALMONER_RECOMMENDATION_PHASE: "3" });
    const demand = await fetch(`${site.origin}/api/donate/hope-kitchen?amount=2.5`);
    paid = site.pay(((await demand.json()) as { solana_pay: string }).solana_pay);
  });
  afterAll(async () => {
    await site.close();
  });

  test("first, all that agents look for is there, and in its files what does not need the service", async () => {
    const exported = plainFolder(site.directory.dataDir);
    await site.directory.restart({ publicDir: exported });
    for (const where of [`--url=${site.origin}`, `--dir=${exported}`]) {
      const { code, out } = await runScript("ready", [where, "--json"]);
      const { findings } = JSON.parse(out) as { findings: { result: string }[] };
      expect([findings.filter(({ result }) => !/^(?:ok$|not probed)/.test(result)), code]).toEqual([
        [],
        0,
      ]);
      const left = findings.filter(({ result }) => result.startsWith("not probed"));
      expect(left.length > 0).toBe(where.startsWith("--dir"));
    }
    const { code, out } = await runScript("ready", ["--dir", folder]);
    expect([code, out]).toEqual([1, expect.stringContaining("answers 404, not 200")]);
  });

  test.each(blocks.filter(({ text }) => isRun(text)).map(({ at, text }) => [at, text] as const))(
    "%s: %s",
    async (_, text) => {
      const command = substitutions(site, paid).reduce(
        (changed, [written, here]) => changed.replaceAll(written, here),
        text,
      );
      // Each answer's status after its body. A demand for payment is what a gift begins with.
      const told = command.replaceAll(/\bcurl /g, `curl --write-out '%{stderr}%{http_code}\\n' `);
      const { code, err, out } = await runProgram(["sh", "-c", told], { cwd: folder });
      expect(code).toBe(0);
      const statuses = [...err.matchAll(/^\s*(\d{3})$/gm)].map(([, status]) => Number(status));
      expect(statuses.length > 0 || !text.includes("curl")).toBe(true);
      const refused = statuses.filter((status) => ![200, 201, 202, 402].includes(status));
      expect([refused, refused.length > 0 ? out : ""]).toEqual([[], ""]);
    },
  );
});
