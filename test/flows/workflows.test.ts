import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { theDirectory } from "#test/support/discovery.ts";
import { curate } from "#test/support/curate.ts";
import { theChain } from "#test/support/local-chain.ts";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { runProgram } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const redocly = clientFile("node_modules/@redocly/cli/bin/cli.js");
const oxlint = join(import.meta.dirname, "../../node_modules/.bin/oxlint");

const chain = await theChain();
const wallet = chain.wallet();
const directory = await theDirectory({
  env: chain.env,
  records: [aNonprofit({ slug: "thin-trust", usdc_wallet: wallet })],
  context: { clock: chain.clock },
});
await curate(directory.service, aRichNonprofit({ causes: ["health"] }));
const folder = theFolder();
for (const name of ["openapi.json", "agents.arazzo.yaml"]) {
  writeFileSync(join(folder, name), directory.files.get(name) ?? "");
}

/** Redocly runs on Node; its notices about Node and telemetry are no part of the outcome. */
async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const env = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" };
  const { code, out, err } = await runProgram(["node", redocly, ...args], { cwd: folder, env });
  return { code, output: out + err };
}

/** A start takes longer than a workflow, so several are run at once where none reads what another takes. */
const wordsOf = (workflows: string[], input: object) => [
  "agents.arazzo.yaml",
  ...workflows.flatMap((workflow) => ["-w", workflow]),
  "-i",
  JSON.stringify(input),
];

/** The steps that met all of their criteria. */
const passedOf = (output: string) =>
  [...output.matchAll(/✓ (?:GET|POST) \S+ - step (\w+)/g)].map(([, step]) => step);

type Retry = { retryAfter: number; retryLimit: number; criteria: { condition: string }[] };
type Workflows = {
  workflows: {
    workflowId: string;
    steps: { stepId: string; operationId?: string; onFailure?: Retry[] }[];
    outputs: Record<string, string>;
  }[];
};
const workflows = () =>
  (parse(directory.files.get("agents.arazzo.yaml") ?? "") as Workflows).workflows;

test("both descriptions pass the strict rules of redocly", async () => {
  // The test's own service is at localhost, which is no address for a description.
  const strict = ["--extends", "recommended-strict", "--skip-rule", "no-server-example.com"];
  const { code, output } = await run("lint", "openapi.json", "agents.arazzo.yaml", ...strict);
  expect([code === 0 ? "" : output, code]).toEqual(["", 0]);
});

test.skipIf(!clientsInstalled)(
  "openapi.json passes the rules of spectral, warnings too",
  async () => {
    // Examples of bodies are Redocly's, and all others those of test/api/http/contract.test.ts: to Spectral they are most of its work.
    const rules = 'rules: { oas3-valid-media-example: "off" }';
    writeFileSync(join(folder, ".spectral.yaml"), `extends: ["spectral:oas"]\n${rules}\n`);
    const spectral = clientFile("node_modules/@stoplight/spectral-cli/dist/index.js");
    const args = ["lint", "openapi.json", "--ruleset", ".spectral.yaml", "--fail-severity", "hint"];
    const { code, out, err } = await runProgram([process.execPath, spectral, ...args], {
      cwd: folder,
    });
    expect([code === 0 ? "" : out + err, code]).toEqual(["", 0]);
  },
);

test.skipIf(!clientsInstalled)(
  "orval makes a client of openapi.json that compiles and reads what the service answers",
  async () => {
    const client = join(folder, "client.ts");
    const output = { target: client, client: "fetch", mode: "single", baseUrl: directory.url };
    const config = { almoner: { input: join(folder, "openapi.json"), output } };
    writeFileSync(join(folder, "orval.config.mjs"), `export default ${JSON.stringify(config)}`);
    const orval = clientFile("node_modules/orval/dist/bin/orval.mjs");
    const made = await runProgram([process.execPath, orval, "--config", "orval.config.mjs"], {
      cwd: folder,
    });
    expect([made.code === 0 ? "" : made.out + made.err, made.code]).toEqual(["", 0]);
    const strict = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
    };
    const modern = { target: "esnext", module: "esnext", moduleResolution: "bundler", types: [] };
    const settings = { compilerOptions: { ...strict, ...modern, skipLibCheck: true } };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const checks = ["--type-aware", "--type-check", "--allow", "all", "client.ts"];
    const { code, out, err } = await runProgram([oxlint, ...checks], { cwd: folder });
    expect([code === 0 ? "" : out + err, code]).toEqual(["", 0]);
    type Search = (query: object) => Promise<{ status: number; data: { nonprofits: object[] } }>;
    const { searchNonprofits } = (await import(client)) as { searchNonprofits: Search };
    const { status, data } = await searchNonprofits({ q: "thin trust" });
    expect([status, data.nonprofits]).toMatchObject([200, [{ slug: "thin-trust" }]]);
  },
);

describe("the workflows run against the service", () => {
  const scout = {
    agent_id: "scout-1",
    agent_name: "Scout",
    source_url: "https://register.example/1",
  };
  const city = { slug: "thin-trust", field: "city", value: "Kisumu" };
  const pick = { cause: "health", intent: "donate" };
  // A gift by a signer's signature; without one the run without any input ends at the 402.
  const gift = async () => {
    const { memo } = (await directory.service.json("/api/donate/thin-trust?amount=2.5")) as {
      memo: string;
    };
    const payment = chain.donor().pay({ to: wallet, usdc: "2.5", memo });
    chain.land(payment);
    return { amount: 2.5, tx_signature: payment.signature };
  };
  // The order matters: each finds what the one before it left, and one opinion alone earns no credit.
  const runs: [string[], () => Promise<object>, string[], refused: string[]][] = [
    [
      ["confirm-leaderboard-credit", "discover-via-recommend", "discover-and-enrich"],
      async () => ({ ...pick, ...scout, ...city }),
      ["recommend", "profile", "findThin", "readProfile", "submit", "stats", "leaderboard"],
      ["✗ GET /api/agents/leaderboard - step credit"],
    ],
    [
      ["second-opinion", "confirm-leaderboard-credit", "donate-x402"],
      async () => ({ agent_id: "bb7", agent_name: "Scout", ...city, ...(await gift()) }),
      [
        "findPending",
        "submitOpinion",
        "stats",
        "leaderboard",
        "credit",
        "findPayable",
        "requirements",
        "settle",
        "history",
      ],
      [],
    ],
  ];

  test("all of them as they are, without any input", async () => {
    const { code, output } = await run("respect", "agents.arazzo.yaml");
    expect([code === 0 ? "" : output, code]).toEqual(["", 0]);
    // A payment is described, and none is made.
    expect(passedOf(output)).toContain("example");
    // Nothing is picked for the cause that is asked about by default.
    expect(passedOf(output)).toEqual(expect.arrayContaining(["recommend", "search"]));
    // Without a value to send they say what there is to do, and change nothing.
    expect(passedOf(output)).toEqual(expect.arrayContaining(["findPending", "findThin"]));
    expect(passedOf(output).filter((step) => step?.startsWith("submit"))).toEqual([]);
  });

  test.each(runs)("%p", async (names, input, steps, refused) => {
    const { code, output } = await run("respect", ...wordsOf(names, await input()));
    const failures = output.match(/✗ .* - step \w+/g) ?? [];
    expect([failures, passedOf(output), code]).toEqual([refused, steps, refused.length]);
  });

  test("and change what they say: the value is live, agreed on by both, and the gift is recorded", async () => {
    const rows = await directory.service.rows(
      "SELECT slug, field, value, agent_id FROM submissions JOIN nonprofits n ON n.id = nonprofit_id ORDER BY submissions.id",
    );
    expect(rows.map((row) => [row["slug"], row["field"], row["value"], row["agent_id"]])).toEqual([
      ["thin-trust", "city", "Kisumu", "scout-1"],
      ["thin-trust", "city", "Kisumu", "bb7"],
    ]);
    const profile = await (await fetch(`${directory.url}/api/nonprofits/thin-trust`)).json();
    expect(profile).toMatchObject({
      city: "Kisumu",
      provenance: { city: { source: "consensus" } },
    });
    const history = await (await fetch(`${directory.url}/api/donations/thin-trust`)).json();
    expect(history).toMatchObject({ donation_count: 1, total_donated_usdc: 2.5 });
  });

  test("name the profile that was completed, and wait as long as a final answer may take", () => {
    const byId = Object.fromEntries(workflows().map((one) => [one.workflowId, one]));
    for (const id of ["discover-and-enrich", "second-opinion"]) {
      expect(byId[id]?.outputs).toMatchObject({ submitted_slug: "$inputs.slug" });
    }
    const settle = byId["donate-x402"]?.steps.find(({ stepId }) => stepId === "settle");
    const [retry] = settle?.onFailure ?? [];
    expect(retry?.criteria).toEqual([{ condition: "$statusCode == 202 || $statusCode == 503" }]);
    expect((retry?.retryAfter ?? 0) * (retry?.retryLimit ?? 0)).toBeGreaterThanOrEqual(600);
  });

  test("there is no workflow that these tests leave out", () => {
    const ran = new Set(runs.flatMap(([names]) => names));
    expect(
      workflows()
        .map(({ workflowId }) => workflowId)
        .filter((id) => !ran.has(id)),
    ).toEqual([]);
  });
});
