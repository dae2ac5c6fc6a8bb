import { describe, expect, test } from "bun:test";
import helps from "#content/editorial/metrics.json";
import {
  checks,
  type Facts,
  findingsOf,
  type GaugeName,
  type GaugeValue,
  gauges,
  healthWarnings,
  unreadyParts,
} from "#content/operation/checks.ts";

const publication: NonNullable<Facts["publication"]> = {
  release: 7,
  held: false,
  profiles_behind: 0,
  lists_behind: 0,
  oldest_waiting_s: null,
  failures: 0,
};

const chain: NonNullable<Facts["chain"]> = {
  cluster: "devnet",
  answers: true,
  took_ms: 12,
  why: null,
  nodes: 2,
  disagreements: 0,
};

const sponsor: NonNullable<Facts["sponsor"]> = {
  address: "Sponsor",
  balance_lamports: 1_000_000_000,
  spent_lamports: 20_000,
  budget_lamports: 50_000_000,
  runway_days: null,
  refuses: null,
};

const well = {
  at: "2026-11-21T12:00:00.000Z",
  publication,
  chain,
  sponsor: null,
  donations: { voided: 0, newest_voided: null, unsettled: 0 },
  registers: [],
  backup: { at: "2026-11-21T03:00:00.000Z", age_s: 32_400 },
  backup_problem: null,
  refused: { hours: 24, requests: {} },
  access: { hours: 24, failed_sign_ins: 0, untrusted_proxy_requests: 0 },
  store: { bytes: 1e9, free_bytes: 5e10, newest_change: 9 },
} satisfies Facts;

const publishing = (part: Partial<typeof publication>) => ({
  publication: { ...publication, ...part },
});
const chained = (part: Partial<Facts["chain"]>) => ({ chain: { ...chain, ...part } });
const sponsored = (part: Partial<Facts["sponsor"]>) => ({ sponsor: { ...sponsor, ...part } });
const gifts = (voided: number, unsettled: number) => ({
  donations: { voided, unsettled, newest_voided: voided === 0 ? null : "/api/donations/well/id" },
});
const access = (part: Partial<typeof well.access>) => ({ access: { ...well.access, ...part } });
const free = (free_bytes: number | null) => ({ store: { ...well.store, free_bytes } });
const backupOf = (age_s: number) => ({ backup: { at: "2026-11-18T12:00:00.000Z", age_s } });
const registers = [null, "status 404"].map((problem, at) => ({
  register: ["acnc", "irs-bmf"][at] ?? "",
  fetched_at: "2026-11-08T04:00:00.000Z",
  problem,
}));

describe("warnings of a directory's health", () => {
  test.each<[string, Facts, string | null]>([
    ["all is well", {}, null],
    ["nothing was published", publishing({ release: 0 }), "Nothing has been published yet."],
    ["a change has waited for exactly the bound", publishing({ oldest_waiting_s: 60 }), null],
    ["a change waits for a minute", publishing({ oldest_waiting_s: 119 }), "waited for 1 minute."],
    ["a change waits for minutes", publishing({ oldest_waiting_s: 359 }), "waited for 5 minutes."],
    ["a change waits for hours", publishing({ oldest_waiting_s: 14_040 }), "waited for 3 hours."],
    [
      "a rollback holds publishing, whatever waits",
      publishing({ held: true, oldest_waiting_s: 7_200 }),
      "A rollback holds publishing",
    ],
    ["pages failed", publishing({ failures: 3 }), "3 pages could not be rendered"],
    ["a register was not fetched", { registers }, "irs-bmf failed on 2026-11-08: status 404."],
    ["this process does not publish", { publication: null, silent_s: null }, null],
    ["no publisher runs", { silent_s: null }, "nothing new: the publisher does not run. Restart"],
    ["the publisher was silent up to the bound", { silent_s: 30 }, null],
    ["the publisher hangs", { silent_s: 31 }, "has given no sign of life for 31 s. Restart"],
    ["the chain is silent", chained({ answers: false, why: "timed out" }), "answer: timed out."],
    ["the chain is silent, no one knows why", chained({ answers: false }), "no reason given."],
    ["nodes contradict each other", chained({ disagreements: 3 }), "each other 3 times"],
    ["a gift vanished", gifts(1, 0), "were voided. The newest: /api/donations/well/id."],
    ["gifts stay unproven", gifts(0, 2), "2 recorded gifts are not final"],
    [
      "the sponsor has no money left",
      sponsored({ balance_lamports: 0, runway_days: 0, refuses: "no_sol" }),
      "too little SOL: send some to Sponsor.",
    ],
    ["the sponsor's budget is used up", sponsored({ refuses: "budget" }), "budget of 24 hours"],
    ["the sponsor's money ends soon", sponsored({ runway_days: 3 }), "lasts for 3 more days"],
    ["the sponsor's money lasts", sponsored({ runway_days: 7 }), null],
    ["no node is named", chained({ answers: false, nodes: 0 }), "No node of the chain is named"],
    ["no backup is known", { backup: null }, "No backup has been recorded."],
    ["the backup is of yesterday", backupOf(25 * 3_600), null],
    ["the backup is old", backupOf(3 * 86_400), "The last backup is 3 days old."],
    ["a few sign-ins failed", access({ failed_sign_ins: 9 }), null],
    ["many sign-ins failed", access({ failed_sign_ins: 10 }), "10 sign-ins of operators failed"],
    [
      "a proxy is in front untold",
      access({ untrusted_proxy_requests: 1 }),
      "Requests carry X-Forwarded-For",
    ],
    ["room was used up", { refused: { hours: 24, requests: { stored: 4 } } }, "4 writes were"],
    ["the disk fills", free(123_456_789), "The disk has only 123 MB left."],
    ["the disk is somebody else's", free(null), null],
  ])("%s", (_, change, says) => {
    const expected = says === null ? [] : [expect.stringContaining(says)];
    expect(healthWarnings({ ...well, ...change })).toEqual(expected);
  });

  test("several at once are all said", () => {
    const late = publishing({ failures: 1, oldest_waiting_s: 90 });
    expect(healthWarnings({ ...well, backup: null, ...late })).toHaveLength(3);
  });
});

test("a finding of a check with a remedy is followed by it", () => {
  const store = { free_bytes: 123_456_789 };
  expect(findingsOf("disk", { store })).toEqual(["The disk has only 123 MB left."]);
  expect(healthWarnings({ store })).toEqual([
    `The disk has only 123 MB left. ${checks.disk.remedy}`,
  ]);
});

test("every gauge that is no one's but the process's is that of one check", () => {
  const names = Object.values(checks).flatMap((check) => Object.keys(check.gauges ?? {}));
  const others = Object.keys(helps).filter((name) => !names.includes(name));
  expect(others.map((name) => name.split("_")[0])).toEqual([
    "almoner",
    "process",
    "process",
    "process",
  ]);
  expect(names).toHaveLength(new Set(names).size);
});

test.each<[GaugeName, Facts, GaugeValue]>([
  ["almoner_publication_lag_seconds", { publication }, 0],
  ["almoner_publication_lag_seconds", { publication: null }, null],
  ["almoner_publisher_seen_timestamp_seconds", { publisher_seen_ms: 1_500 }, 1.5],
  ["almoner_publisher_seen_timestamp_seconds", {}, null],
  ["almoner_rpc_up", { chain }, true],
  ["almoner_rpc_up", { chain: { ...chain, nodes: 0 } }, undefined],
  ["almoner_rpc_latency_seconds", { chain }, 0.012],
  ["almoner_register_fetches_failed", { registers }, 1],
  ["almoner_register_fetches_failed", {}, undefined],
  ["almoner_queue_waiting", { queues: [{ kind: "claim", waiting: 2 }] }, { claim: 2 }],
])("%s of %j", (name, facts, value) => {
  expect(gauges[name]?.(facts)).toEqual(value);
});

describe("why a service should be sent no requests", () => {
  const none = publishing({ release: 0 });
  const late = publishing({ oldest_waiting_s: 61 });
  const held = publishing({ held: true, oldest_waiting_s: 61 });
  const silentChain = chained({ answers: false, why: "timed out" });
  test.each<[string, Facts, ...reasons: string[]]>([
    ["all is well", {}],
    ["nothing publishes beside this process", { publication: null }],
    [
      "no publisher runs, the first reason",
      { ...none, silent_s: null },
      "publisher: the publisher does not run",
    ],
    ["nothing is published", none, "publisher: nothing is published yet"],
    ["publishing is behind", late, "publisher: a change has waited for 61 s to be published"],
    ["an operator holds publishing", held],
    ["no node is named", chained({ answers: false, nodes: 0 })],
    [
      "chain and disk at once",
      { ...silentChain, ...free(63_999_999) },
      "chain: the chain does not answer: timed out",
      "store: the disk is full: 63 MB are left",
    ],
    ["the disk tells nothing", free(null)],
  ])("%s", (_, change, ...reasons) => {
    const parts = unreadyParts({ ...well, chain, silent_s: 1, ...change });
    expect(parts.map(({ part, why }) => `${part}: ${why}`)).toEqual(reasons);
  });
});
