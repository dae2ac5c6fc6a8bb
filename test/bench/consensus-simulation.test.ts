import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { enrich } from "#content/enrichment/enrich.ts";
import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { consensusSimulation, type SimulationParameters } from "#content/contract/stats.ts";
import {
  EnrichmentBody,
  type StructuredField,
  structuredFields,
} from "#content/contract/enrichment.ts";
import { noFilters } from "#content/contract/browse.ts";
import { needsAnswer } from "#content/enrichment/needs-store.ts";
import type { Store } from "#content/store/open.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { type Attack, attacks } from "#test/bench/consensus/agents.ts";
import type { Sent } from "#test/bench/consensus/directory.ts";
import {
  type Run,
  publishedParameters,
  simulate,
  simulateAll,
} from "#test/bench/consensus/simulate.ts";
import { openBlankStore } from "#test/support/blank-store.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit } from "#test/support/records.ts";

const small: SimulationParameters = {
  ...publishedParameters,
  seeds: [1],
  profiles: 40,
  days: 6,
  visits_per_agent_and_day: 3,
  attack_begins_on_day: 1,
  attack_requests: 60,
};

/** One attack in one mode, beside which honest agents work as they do in all; the rest with ALMONER_FULL_TESTS=1. */
const tried = attacks.filter(({ name }) => isFull || name === "one-network");
const modes: ConsensusMode[] = isFull ? ["agents", "networks"] : ["agents"];

test("the published figures are what the simulator computes", () => {
  expect(consensusSimulation.parameters).toEqual(publishedParameters);
  const published = consensusSimulation.outcomes.filter(
    ({ attack, mode }) => modes.includes(mode) && tried.some(({ name }) => name === attack),
  );
  expect(published).toHaveLength(modes.length * tried.length);
  expect(simulateAll(publishedParameters, () => {}, { tried, modes })).toEqual(published);
});

const attackNamed = (name: string): Attack => {
  const attack = attacks.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`no attack ${name}`);
  return attack;
};

const run = (
  mode: ConsensusMode,
  name: string,
  onSent: (sent: Sent) => void = () => {},
  parameters = small,
) => simulate({ seed: 1, mode, attack: attackNamed(name), parameters, onSent });

const falseBy = ({ promotions, attackers }: Run) =>
  promotions.filter(({ agents }) => agents.every((agent) => attackers.has(agent))).length;

describe("an attacker alone makes nothing live", () => {
  test.each([
    ["networks", "one-network"],
    ["networks", "slow-burn"],
    ["agents", "one-id-respelled"],
    ["agents", "poisoned-first"],
  ] as const)("mode %s, %s", (mode, name) => {
    const ran = run(mode, name);
    expect(ran.attackSubmissions).toBeGreaterThan(30);
    expect(falseBy(ran)).toBe(0);
  });

  test.each([
    ["agents", "one-network"],
    ["agents", "slow-burn"],
    ["agents", "colluding-pair"],
    ["networks", "colluding-pair"],
  ] as const)("but does in mode %s, %s", (mode, name) => {
    expect(falseBy(run(mode, name))).toBeGreaterThan(5);
  });
});

test("the limits hold an attacker to 30 requests a minute from one address", () => {
  const atMs: number[] = [];
  run("agents", "one-network", ({ network, atMs: when }) => {
    if (network === "crowd-net") atMs.push(when);
  });
  expect(atMs.length).toBe(small.attack_requests);
  for (const [at, when] of atMs.entries()) {
    expect(when - (atMs[at - 30] ?? -60_000)).toBeGreaterThanOrEqual(60_000);
  }
});

const folder = mkdtempSync(join(tmpdir(), "almoner-consensus-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what is simulated is what the service does", () => {
  // Enough for each attack to agree with itself, and with the honest.
  const smaller = { ...small, profiles: 30, days: 2, attack_requests: 40 };
  test.each(
    attacks.flatMap(({ name }) => (["agents", "networks"] as const).map((mode) => [mode, name])),
  )("mode %s, %s", async (mode, name) => {
    const sent: Sent[] = [];
    const ran = run(mode, name, (request) => sent.push(request), smaller);
    using store = await aDirectory(ran, `${name}-${mode}`);
    const parts = {
      store,
      clock: () => new Date("2026-01-05T00:00:00Z"),
      baseUrl: "https://almoner.example",
      mode,
      takeAgent: () => Promise.resolve({ allowed: true, retryAfterMs: 0 }),
    };
    expect(ran.promotions.length).toBeGreaterThan(20);
    expect(simulatedOpinions(ran)).not.toEqual([]);
    // Sent at once, stored in this order: the verb hands them to one queue.
    const answers = await Promise.all(
      sent.map(({ profile, body, network }) =>
        enrich(parts, {
          slug: profile.slug,
          body: EnrichmentBody.parse(body),
          idempotencyKey: null,
          network,
          secret: null,
        }),
      ),
    );
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    expect(await liveIn(store, ran)).toEqual(simulatedLive(ran));
    expect(await agreedIn(store)).toEqual(simulatedAgreed(ran));
    expect(await opinionsIn(store, mode)).toEqual(simulatedOpinions(ran));
    console.error(
      name,
      mode,
      sent.length,
      ran.promotions.length,
      simulatedOpinions(ran).length,
      ran.attackSubmissions,
      falseBy(ran),
    );
  });
});

/** A store with the run's profiles: what they do not lack holds a value. */
async function aDirectory({ world }: Run, name: string): Promise<Store> {
  const store = await openBlankStore(`file:${join(folder, name)}.db`);
  const filled = {
    website: "https://there.example",
    city: "There",
    region: "There",
    founded_year: 1999,
    contact_email: "a@there.example",
  };
  const saves = world.map(({ slug, missing, reach }) => {
    const empty = Object.fromEntries(missing.map((field) => [field, null]));
    const after = aNonprofit({ ...filled, ...empty, slug, beneficiaries_per_year: reach });
    return { before: null, after };
  });
  await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date(0) }));
  return store;
}

type Live = Record<string, Partial<Record<StructuredField, string>>>;

async function liveIn(store: Store, { world }: Run): Promise<Live> {
  const live: Live = {};
  for (const { slug, missing } of world) {
    const record = await recordBySlug(store, slug);
    const held = structuredFields.filter((field) => missing.includes(field) && record?.[field]);
    live[slug] = Object.fromEntries(held.map((field) => [field, String(record?.[field])]));
  }
  return live;
}

function simulatedLive({ world, promotions }: Run): Live {
  const live: Live = Object.fromEntries(world.map(({ slug }) => [slug, {}]));
  for (const { profile, field, value } of promotions) {
    live[profile.slug] = { ...live[profile.slug], [field]: value };
  }
  return live;
}

async function agreedIn(store: Store): Promise<string[]> {
  const { rows } = await store.raw.execute(
    `SELECT n.slug, s.field, s.agent_id FROM submissions AS s JOIN nonprofits AS n ON n.id = s.nonprofit_id
     WHERE s.status = 'applied'`,
  );
  return rows
    .map((row) => ["slug", "field", "agent_id"].map((name) => String(row[name])).join(" "))
    .toSorted();
}

const simulatedAgreed = ({ promotions }: Run): string[] =>
  promotions
    .flatMap(({ profile, field, agents }) =>
      agents.map((agent) => `${profile.slug} ${field} ${agent}`),
    )
    .toSorted();

async function opinionsIn(store: Store, mode: ConsensusMode): Promise<string[]> {
  const query = {
    day: "2026-01-05",
    limit: 50,
    field: null,
    filters: noFilters,
    pending: false,
  };
  const totals = { total_enrichments_received: 0, second_opinions_available: 0 };
  const shown = { baseUrl: "https://almoner.example", totals, secondOpinions: mode };
  const { nonprofits } = await needsAnswer(store, query, shown);
  return nonprofits
    .flatMap(({ slug, second_opinion_needed = [] }) =>
      second_opinion_needed.map(({ field, pending_value }) => `${slug} ${field} ${pending_value}`),
    )
    .toSorted();
}

const simulatedOpinions = ({ world, opinions }: Run): string[] =>
  world
    .flatMap((profile) =>
      opinions(profile).map(({ field, value }) => `${profile.slug} ${field} ${value}`),
    )
    .toSorted();
