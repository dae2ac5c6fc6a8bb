import { describe, expect, test } from "bun:test";
import { unknownSignature } from "#content/contract/donation.ts";
import { type Action, actionOn, isLost, type Step, steps } from "#content/giving/intent-states.ts";

test("an intent stands where the table says, and only what never landed cost the sponsor nothing", () => {
  const expected: Record<keyof typeof steps, [next: Step["next"], neverLanded?: true]> = {
    gift: ["settled"],
    not_confirmed: ["waiting"],
    age_unknown: ["waiting"],
    failed_on_chain: ["refused"],
    wrong_token: ["refused"],
    wrong_recipient: ["refused"],
    foreign_memo: ["refused"],
    self_donation: ["refused"],
    too_old: ["refused"],
    underpaid: ["refused"],
    recorded_elsewhere: ["refused"],
    chain_unclear: ["waiting"],
    absent: ["waiting"],
    payment_fails: ["refused", true],
    lapsed: ["lapsed", true],
    voided: ["lapsed"],
    nonprofit_gone: ["refused"],
  };
  const written = Object.entries(steps).map(([sighting, { next, neverLanded }]: [string, Step]) => [
    sighting,
    neverLanded === undefined ? [next] : [next, neverLanded],
  ]);
  expect(Object.fromEntries(written)).toEqual(expected);
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
type Row = [ageMs: number, unknown: number, canLand: boolean, action: Action];

const table: Record<Parameters<typeof actionOn>[0], Row[]> = {
  payment: [
    [0, 0, false, "resend"],
    [89_999, 8, false, "resend"],
    [90_000, 0, false, "count"],
    [90_000, 7, false, "count"],
    [90_000, 8, false, "lapse"],
    [90_000, 8, true, "resend"],
    [24 * hourMs, 0, true, "resend"],
    [24 * hourMs, 7, false, "count"],
    [24 * hourMs, 8, false, "lapse"],
  ],
  proof: [
    [0, 0, false, "count"],
    [0, 7, false, "count"],
    [0, 8, false, "wait"],
    [15 * minuteMs - 1, 8, false, "wait"],
    [15 * minuteMs, 7, false, "count"],
    [15 * minuteMs, 8, false, "lapse"],
    [24 * hourMs, 0, false, "count"],
  ],
  watch: [
    [0, 0, false, "wait"],
    [2 * hourMs - 1, 8, false, "wait"],
    [2 * hourMs, 0, false, "count"],
    [2 * hourMs, 7, false, "count"],
    [2 * hourMs, 8, false, "lapse"],
  ],
};

test.each([
  [unknownSignature.waitMs - 1, 8, false],
  [unknownSignature.waitMs, 7, false],
  [unknownSignature.waitMs, 8, true],
])("whether who asks hears after %i ms and %i such answers that it is lost: %p", (...row) => {
  const [ageMs, unknown, lost] = row;
  expect(isLost({ ageMs, unknown })).toBe(lost);
});

describe.each(Object.entries(table))("an absent %s", (kind, rows) => {
  test.each(rows)("of %i ms, with %i such answers (can land: %p): %s", (...row) => {
    const [ageMs, unknown, canLand, action] = row;
    expect(actionOn(kind as keyof typeof table, { ageMs, unknown, canLand })).toBe(action);
  });
});
