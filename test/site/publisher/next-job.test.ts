import { describe, expect, test } from "bun:test";
import {
  type FollowUpName,
  type Job,
  type LoopState,
  nextJob,
} from "#site/publisher/publish-loop.ts";

const idle: LoopState = {
  nowMs: 1_000,
  pausedUntilMs: 0,
  buildAfterMs: 0,
  requested: false,
  held: false,
  outdated: false,
  hasChanges: false,
  housekeepingAtMs: 50_000,
  followUps: [],
  running: new Set(),
};

/** The follow-up jobs that are due, as the loop has them. */
const due = (atMs: Partial<Record<FollowUpName, number>>): Pick<LoopState, "followUps"> => ({
  followUps: [
    { name: "lists", slot: "lists", atMs: atMs.lists ?? null },
    { name: "feed", slot: "lists", whileHeld: true, atMs: atMs.feed ?? null },
    { name: "search", slot: "search", atMs: atMs.search ?? null },
  ],
});
const lists: LoopState["running"] = new Set(["lists"]);
const build: LoopState["running"] = new Set(["build"]);
const search: LoopState["running"] = new Set(["search"]);

describe("the publisher's next job, or until when it waits", () => {
  test.each<[string, Partial<LoopState>, Job | number]>([
    ["a change is published at once", { hasChanges: true }, "profile"],
    ["a change goes before lists", { hasChanges: true, ...due({ lists: 900 }) }, "profile"],
    ["a change is published while lists are made", { hasChanges: true, running: lists }, "profile"],
    ["a change is published during a full build", { hasChanges: true, running: build }, "profile"],
    ["lists follow when no change waits", due({ lists: 1_000 }), "lists"],
    ["lists wait so that a burst costs one run", due({ lists: 1_400 }), 1_400],
    ["lists are made one run at a time", { ...due({ lists: 900 }), running: lists }, 61_000],
    ["lists wait for a full build", { ...due({ lists: 900 }), running: build }, 61_000],
    ["mirrors are told once lists are in step", due({ feed: 0 }), "feed"],
    ["a snapshot that costs much waits", due({ feed: 3_000 }), 3_000],
    ["indexes follow releases", due({ search: 0 }), "search"],
    ["indexes are made while lists are", { ...due({ search: 0 }), running: lists }, "search"],
    ["indexes are made one run at a time", { ...due({ search: 0 }), running: search }, 50_000],
    ["indexes wait after a run", due({ search: 31_000 }), 31_000],
    ["housekeeping goes before changes", { housekeepingAtMs: 0, hasChanges: true }, "housekeeping"],
    ["housekeeping waits for lists that are made", { housekeepingAtMs: 0, running: lists }, 61_000],
    ["another site is built first", { outdated: true, hasChanges: true }, "full build"],
    ["its pages wait for its build", { outdated: true, hasChanges: true, running: build }, 61_000],
    [
      "its failed build is tried later",
      { outdated: true, hasChanges: true, buildAfterMs: 9_000 },
      9_000,
    ],
    ["what an operator asks for goes first", { requested: true, hasChanges: true }, "request"],
    ["a request finds no list job half-way", { requested: true, running: lists }, 61_000],
    [
      "no list job begins before it",
      { requested: true, ...due({ lists: 900, feed: 0 }), running: build },
      61_000,
    ],
    [
      "lists go on after a failed build",
      { requested: true, buildAfterMs: 9_000, ...due({ lists: 900 }) },
      "lists",
    ],
    [
      "a rollback holds what renders",
      { held: true, hasChanges: true, ...due({ lists: 900, search: 0 }) },
      50_000,
    ],
    ["a rollback is told to mirrors", { held: true, ...due({ feed: 0 }) }, "feed"],
    ["a rollback to an older site is not built over", { held: true, outdated: true }, 50_000],
    ["a rollback is resumed", { held: true, requested: true }, "request"],
    [
      "after a failure all wait a moment",
      { pausedUntilMs: 2_000, hasChanges: true, requested: true },
      2_000,
    ],
    ["with nothing to do it waits", {}, 50_000],
  ])("%s", (_behaviour, state, expected) => {
    const next = nextJob({ ...idle, ...state });
    expect(next.job === "wait" ? next.untilMs : next.job).toBe(expected);
  });
});
