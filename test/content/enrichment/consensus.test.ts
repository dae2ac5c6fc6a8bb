import { describe, expect, test } from "bun:test";
import {
  type ConsensusMode,
  decide,
  type PendingVote,
  givesWay,
} from "#content/enrichment/consensus.ts";

const vote = (agent_id: string, normalised_value: string, network: string | null = null) => ({
  agent_id,
  normalised_value,
  network,
});
const pending = (id: number, ...said: Parameters<typeof vote>): PendingVote => ({
  id,
  ...vote(...said),
});

type Case = {
  title: string;
  live?: string | null;
  field_type?: "structured" | "prose";
  pending?: PendingVote[];
  mine: ReturnType<typeof vote>;
  mode?: ConsensusMode;
  becomes: ReturnType<typeof decide>;
};

/** Source: spec, "Enrichment submission status": the five rows, then the two rules, then decisions.md. */
const cases: Case[] = [
  {
    title: "the first agent waits",
    mine: vote("a", "x"),
    becomes: { kind: "pending", confidence: 1, replaces: null },
  },
  {
    title: "a second agent with the same value makes it live, in the earliest one's words",
    pending: [pending(7, "a", "x"), pending(3, "c", "y")],
    mine: vote("b", "x"),
    becomes: { kind: "applied", confidence: 2, replaces: null, winner: 7 },
  },
  {
    title: "prose is queued whatever agrees",
    field_type: "prose",
    pending: [pending(1, "a", "x"), pending(2, "b", "x")],
    mine: vote("c", "x"),
    becomes: { kind: "queued", replaces: null },
  },
  {
    title: "an agent's later text replaces its earlier one",
    field_type: "prose",
    pending: [pending(1, "a", "x"), pending(2, "b", "x")],
    mine: vote("b", "y"),
    becomes: { kind: "queued", replaces: 2 },
  },
  {
    title: "a field with a value is only logged",
    live: "w",
    pending: [pending(1, "a", "x")],
    mine: vote("b", "x"),
    becomes: { kind: "audit", corroborates: false },
  },
  {
    title: "the same value as the live one corroborates it",
    live: "x",
    mine: vote("b", "x"),
    becomes: { kind: "audit", corroborates: true },
  },
  {
    title: "prose beside a live text is only logged",
    live: "w",
    field_type: "prose",
    mine: vote("b", "x"),
    becomes: { kind: "audit", corroborates: false },
  },
  {
    title: "rule 1: a different value leaves both pending",
    pending: [pending(1, "a", "x")],
    mine: vote("b", "y"),
    becomes: { kind: "pending", confidence: 1, replaces: null },
  },
  {
    title: "rule 1: a third agent breaks the tie",
    pending: [pending(1, "a", "x"), pending(2, "b", "y")],
    mine: vote("c", "y"),
    becomes: { kind: "applied", confidence: 2, replaces: null, winner: 2 },
  },
  {
    title: "rule 2: the same agent again adds nothing",
    pending: [pending(1, "a", "x")],
    mine: vote("a", "x"),
    becomes: { kind: "pending", confidence: 1, replaces: null },
  },
  {
    title: "an agent's later value replaces its earlier one",
    pending: [pending(1, "a", "x")],
    mine: vote("a", "y"),
    becomes: { kind: "pending", confidence: 1, replaces: 1 },
  },
  {
    title: "an agent that changes its mind can complete another's value",
    pending: [pending(1, "a", "x"), pending(2, "b", "y")],
    mine: vote("a", "y"),
    becomes: { kind: "applied", confidence: 2, replaces: 1, winner: 2 },
  },
  {
    title: "an empty text is no live value",
    live: "",
    mine: vote("a", "x"),
    becomes: { kind: "pending", confidence: 1, replaces: null },
  },
  {
    title: "strict: two agents on one network still wait",
    mode: "networks",
    pending: [pending(1, "a", "x", "n1")],
    mine: vote("b", "x", "n1"),
    becomes: { kind: "pending", confidence: 2, replaces: null },
  },
  {
    title: "strict: unknown networks do not count as different",
    mode: "networks",
    pending: [pending(1, "a", "x")],
    mine: vote("b", "x", "n1"),
    becomes: { kind: "pending", confidence: 2, replaces: null },
  },
  {
    title: "strict: a third agent on another network makes it live",
    mode: "networks",
    pending: [pending(1, "a", "x", "n1"), pending(2, "b", "x", "n1")],
    mine: vote("c", "x", "n2"),
    becomes: { kind: "applied", confidence: 3, replaces: null, winner: 1 },
  },
];

describe("what becomes of a submission", () => {
  test.each(cases.map((one) => [one.title, one] as const))("%s", (_, one) => {
    const decision = decide({
      field_type: one.field_type ?? "structured",
      live: one.live ?? null,
      pending: one.pending ?? [],
      mine: one.mine,
      mode: one.mode ?? "agents",
    });
    expect(decision).toEqual(one.becomes);
  });
});

test("where a field is full the oldest value of a week gives way, one's own where one has one's share", () => {
  const day = 86_400_000;
  const waiting = (network: string | null, count: number, from: number) =>
    Array.from({ length: count }, (_, at) => ({ id: from + at, network, created_at: from * day }));
  const all = [...waiting("4:b", 4, 2), ...waiting(null, 1, 1), ...waiting("4:a", 5, 6)];
  expect(givesWay(all, "4:c", 8 * day)).toBe(1);
  expect(givesWay(all, null, 8 * day)).toBe(1);
  expect(givesWay(all, "4:b", 8 * day)).toBe(1);
  expect(givesWay(all, "4:a", 13 * day)).toBe(6);
  expect(givesWay(all, "4:a", 13 * day - 1)).toBeNull();
  expect(givesWay(all, "4:c", 8 * day - 1)).toBeNull();
});
