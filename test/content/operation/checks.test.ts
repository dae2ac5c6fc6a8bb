import { describe, expect, test } from "bun:test";
import {
  checks,
  healthWarnings,
  remedies,
  unreadyParts,
  untrustedProxy,
  type Vitals,
} from "#content/operation/checks.ts";

type Health = Parameters<typeof healthWarnings>[0];

const publication: Health["publication"] = {
  release: 7,
  held: false,
  profiles_behind: 0,
  lists_behind: 0,
  oldest_waiting_s: null,
  failures: 0,
};

const chain = {
  cluster: "devnet",
  answers: true,
  took_ms: 12,
  why: null,
  nodes: 2,
  disagreements: 0,
};

const sponsor = {
  address: "Sponsor",
  balance_lamports: 1_000_000_000,
  spent_lamports: 20_000,
  budget_lamports: 50_000_000,
  runway_days: null,
  refuses: null,
};

const well: Health = {
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
};

const cases: readonly { name: string; change: Partial<Health>; says: string | null }[] = [
  { name: "all is well", change: {}, says: null },
  {
    name: "nothing was published",
    change: { publication: { ...publication, release: 0 } },
    says: "Nothing has been published yet.",
  },
  {
    name: "a change has waited for exactly the bound",
    change: { publication: { ...publication, oldest_waiting_s: 60 } },
    says: null,
  },
  {
    name: "a change has waited for a minute",
    change: { publication: { ...publication, oldest_waiting_s: 119 } },
    says: "Publishing is behind: the oldest change has waited for 1 minute.",
  },
  {
    name: "a change has waited for minutes",
    change: { publication: { ...publication, oldest_waiting_s: 359 } },
    says: "Publishing is behind: the oldest change has waited for 5 minutes.",
  },
  {
    name: "a change has waited for hours",
    change: { publication: { ...publication, oldest_waiting_s: 3.9 * 3_600 } },
    says: "Publishing is behind: the oldest change has waited for 3 hours.",
  },
  {
    name: "a rollback holds publishing, whatever waits",
    change: { publication: { ...publication, held: true, oldest_waiting_s: 7_200 } },
    says: "A rollback holds publishing: readers see nothing new until `bun run publish --resume`.",
  },
  {
    name: "pages failed",
    change: { publication: { ...publication, failures: 3 } },
    says: "3 pages could not be rendered; their older versions stay.",
  },
  {
    name: "a register could not be fetched",
    change: {
      registers: [
        { register: "acnc", fetched_at: "2026-11-08T04:00:00.000Z", problem: null },
        { register: "irs-bmf", fetched_at: "2026-11-08T04:00:00.000Z", problem: "status 404" },
      ],
    },
    says: "Fetching irs-bmf failed on 2026-11-08: status 404. `bun run import irs-bmf --fetch` tries again.",
  },
  { name: "this process does not publish", change: { publication: null }, says: null },
  {
    name: "the chain is silent",
    change: { chain: { ...chain, answers: false, why: "timed out" } },
    says: "The chain does not answer: timed out.",
  },
  {
    name: "the chain is silent without a reason",
    change: { chain: { ...chain, answers: false } },
    says: "The chain does not answer: no reason given.",
  },
  {
    name: "nodes contradict each other",
    change: { chain: { ...chain, disagreements: 3 } },
    says: "RPC nodes contradicted each other 3 times in the last 24 hours: one of them lies or is broken, and the log names them. Gifts wait until two agree.",
  },
  {
    name: "a gift vanished",
    change: { donations: { voided: 1, newest_voided: "/api/donations/well/id", unsettled: 0 } },
    says: "1 recorded gifts vanished from the chain in the last 30 days and were voided. The newest: /api/donations/well/id. Look at the RPC nodes that showed them.",
  },
  {
    name: "gifts stay unproven",
    change: { donations: { voided: 0, newest_voided: null, unsettled: 2 } },
    says: "2 recorded gifts are not final after an hour: the RPC nodes can neither prove nor deny them. Name nodes that keep old blocks.",
  },
  {
    name: "the sponsor has no money left",
    change: {
      sponsor: { ...sponsor, balance_lamports: 0, runway_days: 0, refuses: "no_sol" as const },
    },
    says: "The sponsor pays no fees: it has too little SOL: send some to Sponsor. Donors are asked to pay their own.",
  },
  {
    name: "the sponsor's budget is used up",
    change: { sponsor: { ...sponsor, spent_lamports: 50_000_000, refuses: "budget" as const } },
    says: "The sponsor pays no fees: its budget of 24 hours is used up (ALMONER_SPONSOR_LAMPORTS_PER_DAY). Donors are asked to pay their own.",
  },
  {
    name: "the sponsor's money ends soon",
    change: { sponsor: { ...sponsor, runway_days: 3 } },
    says: "The sponsor's SOL lasts for 3 more days: send some to Sponsor.",
  },
  { name: "the sponsor can pay", change: { sponsor }, says: null },
  {
    name: "no node is named",
    change: { chain: { ...chain, answers: false, why: "no RPC node is configured", nodes: 0 } },
    says: "No node of the chain is named (ALMONER_SOLANA_RPC_URLS), so no one can give: who asks what to pay is answered 503.",
  },
  {
    name: "no backup is known",
    change: { backup: null },
    says: "No backup has been recorded. `bun run backup` makes one; with a database server make one there, or `bun run export --all`, and touch `last-backup` in the data folder.",
  },
  {
    name: "the backup is old",
    change: { backup: { at: "2026-11-18T12:00:00.000Z", age_s: 3 * 86_400 } },
    says: "The last backup is 3 days old.",
  },
  {
    name: "a few sign-ins failed",
    change: { access: { ...well.access, failed_sign_ins: 9 } },
    says: null,
  },
  {
    name: "many sign-ins failed",
    change: { access: { ...well.access, failed_sign_ins: 10 } },
    says: "10 sign-ins of operators failed in the last 24 hours. The service's log and the audit log tell more; replace a token that others may know.",
  },
  {
    name: "a proxy stands in front that no setting tells",
    change: { access: { ...well.access, untrusted_proxy_requests: 1 } },
    says: untrustedProxy,
  },
  {
    name: "the day's room was used up",
    change: { refused: { hours: 24, requests: { stored: 4 } } },
    says: "4 writes were refused in 24 hours because the day's room was used up (ALMONER_STORED_MB_PER_DAY).",
  },
  {
    name: "the disk fills",
    change: { store: { ...well.store, free_bytes: 123_456_789 } },
    says: "The disk has only 123 MB left.",
  },
  {
    name: "the disk is somebody else's",
    change: { store: { ...well.store, free_bytes: null } },
    says: null,
  },
];

describe("warnings of a directory's health", () => {
  test.each([...cases])("$name", ({ change, says }) => {
    expect(healthWarnings({ ...well, ...change })).toEqual(says === null ? [] : [says]);
  });

  test("several at once are all said", () => {
    const warnings = healthWarnings({
      ...well,
      backup: null,
      publication: { ...publication, failures: 1, oldest_waiting_s: 90 },
    });
    expect(warnings).toHaveLength(3);
  });
});

const published = { release: 7, held: false, oldest_waiting_s: null, silent_s: 1 };
const vitals: Vitals = { chain, free_bytes: 5e10, publication: published };

test("what doctor can say helps is the remedy of one check, by its name", () => {
  const named = checks.filter(({ remedy }) => remedy !== undefined);
  expect(Object.fromEntries(named.map(({ name, remedy }) => [name, remedy]))).toEqual(remedies);
  expect(named).toHaveLength(Object.keys(remedies).length);
});

describe("why a service should be sent no requests", () => {
  test.each<[string, Partial<Vitals>, string[]]>([
    ["all is well", {}, []],
    ["nothing publishes beside this process", { publication: null }, []],
    [
      "no publisher runs, and nothing is published: the first reason of the part",
      { publication: { ...published, release: 0, silent_s: null } },
      ["publisher: the publisher does not run"],
    ],
    [
      "the publisher was silent up to the bound",
      { publication: { ...published, silent_s: 30 } },
      [],
    ],
    [
      "the publisher hangs",
      { publication: { ...published, silent_s: 31 } },
      ["publisher: the publisher has given no sign of life for 31 s"],
    ],
    [
      "nothing is published",
      { publication: { ...published, release: 0 } },
      ["publisher: nothing is published yet"],
    ],
    [
      "publishing is behind",
      { publication: { ...published, oldest_waiting_s: 61 } },
      ["publisher: a change has waited for 61 s to be published"],
    ],
    [
      "an operator holds publishing",
      { publication: { ...published, held: true, oldest_waiting_s: 61 } },
      [],
    ],
    ["no node is named", { chain: { ...chain, answers: false, nodes: 0 } }, []],
    [
      "chain and disk at once",
      { chain: { ...chain, answers: false, why: "timed out" }, free_bytes: 63_999_999 },
      ["chain: the chain does not answer: timed out", "store: the disk is full: 63 MB are left"],
    ],
    ["the disk tells nothing", { free_bytes: null }, []],
  ])("%s", (_, change, reasons) => {
    expect(
      unreadyParts({ ...vitals, ...change }).map(({ part, why }) => `${part}: ${why}`),
    ).toEqual(reasons);
  });
});
