import { expect, test } from "bun:test";
import { decide, idToReplace } from "#content/enrichment/consensus.ts";

type Vote = Parameters<typeof decide>[0]["mine"];
const vote = (agent_id: string, normalised_value: string, network: string | null = null): Vote => ({
  agent_id,
  normalised_value,
  network,
});
const ax = vote("a", "x");
const ay = vote("a", "y");
const bx = vote("b", "x");
const by = vote("b", "y");
const cx = vote("c", "x");
const cy = vote("c", "y");
const axHome = vote("a", "x", "1");
const bxHome = vote("b", "x", "1");
const cxAway = vote("c", "x", "2");

type Decision = ReturnType<typeof decide>;
const waits = (confidence: number, replaces: number | null = null): Decision => ({
  kind: "pending",
  confidence,
  replaces,
});
const applied = (confidence: number, winner: number, replaces: number | null = null): Decision => ({
  kind: "applied",
  confidence,
  replaces,
  winner,
});
const queued = (replaces: number | null): Decision => ({ kind: "queued", replaces });
const audit = (corroborates: boolean): Decision => ({ kind: "audit", corroborates });

type Situation = Partial<Pick<Parameters<typeof decide>[0], "live" | "field_type" | "mode">>;
const prose: Situation = { field_type: "prose" };
const strict: Situation = { mode: "networks" };

/** Source: spec, "Enrichment submission status": the five rows, then the two rules, then decisions.md. */
test.each<[rule: string, pending: Vote[], mine: Vote, becomes: Decision, situation?: Situation]>([
  ["the first agent waits", [], ax, waits(1)],
  ["a second agent makes live what the earliest one wrote", [cy, ax], bx, applied(2, 2)],
  ["prose is queued whatever agrees", [ax, bx], cx, queued(null), prose],
  ["an agent's later text replaces its earlier one", [ax, bx], by, queued(2), prose],
  ["a field with a value is only logged", [ax], bx, audit(false), { live: "w" }],
  ["the same value as the live one corroborates it", [], bx, audit(true), { live: "x" }],
  ["prose beside a live text is only logged", [], bx, audit(false), { live: "w", ...prose }],
  ["rule 1: a different value leaves both pending", [ax], by, waits(1)],
  ["rule 1: a third agent breaks the tie", [ax, by], cy, applied(2, 2)],
  ["rule 2: the same agent again adds nothing", [ax], ax, waits(1)],
  ["an agent's later value replaces its earlier one", [ax], ay, waits(1, 1)],
  ["who changes its mind can complete another's value", [ax, by], ay, applied(2, 2, 1)],
  ["an empty text is no live value", [], ax, waits(1), { live: "" }],
  ["strict: two agents on one network still wait", [axHome], bxHome, waits(2), strict],
  ["strict: an unknown network is no other one", [ax], bxHome, waits(2), strict],
  ["strict: another network makes it live", [axHome, bxHome], cxAway, applied(3, 1), strict],
])("%s", (_, pending, mine, becomes, situation = {}) => {
  const numbered = pending.map((one, at) => ({ id: at + 1, ...one }));
  const alone = { field_type: "structured", live: null, mode: "agents" } as const;
  expect(decide({ ...alone, ...situation, pending: numbered, mine })).toEqual(becomes);
});

test("where a field is full the oldest value of a week gives way, one's own where one has one's share", () => {
  const day = 86_400_000;
  const waiting = (network: string | null, count: number, from: number) =>
    Array.from({ length: count }, (_, at) => ({ id: from + at, network, created_at: from * day }));
  const all = [...waiting("4:b", 4, 2), ...waiting(null, 1, 1), ...waiting("4:a", 5, 6)];
  for (const network of ["4:c", "4:b", null]) expect(idToReplace(all, network, 8 * day)).toBe(1);
  expect(idToReplace(all, "4:a", 13 * day)).toBe(6);
  expect(idToReplace(all, "4:a", 13 * day - 1)).toBeNull();
  expect(idToReplace(all, "4:c", 8 * day - 1)).toBeNull();
});
