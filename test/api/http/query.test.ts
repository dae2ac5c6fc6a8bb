import { describe, expect, test } from "bun:test";
import { queryOf } from "#api/http/query.ts";

const query = (search: string) => queryOf(`http://localhost/api/search${search}`);
const limits = { fallback: 20, max: 50 };

describe("a limit", () => {
  test.each([
    ["", 20],
    ["?limit=", 20],
    ["?limit=1", 1],
    ["?limit=50", 50],
    ["?limit=51", 50],
    ["?limit=999999999999999999999999", 50],
    [`?limit=${"9".repeat(100_000)}`, 50],
    ["?limit=7&limit=9", 7],
    ["?limit=%207%20", 7],
    ["?other=1", 20],
  ])("in %p is %p", (search, expected) => {
    expect(query(search).limit(limits)).toEqual({ ok: true, value: expected });
  });

  test.each(["0", "-1", "1.5", "ten", "1e1", "0x10", "%00", "%ff", "٣", "NaN", "Infinity"])(
    "of %p is refused by its name",
    (value) => {
      const parsed = query(`?limit=${value}`).limit(limits);
      expect(parsed).toMatchObject({ ok: false, failure: { parameter: "limit" } });
    },
  );
});

describe("an offset", () => {
  test("is a whole number from 0", () => {
    expect(query("?offset=0").offset()).toEqual({ ok: true, value: 0 });
    expect(query("").offset()).toEqual({ ok: true, value: 0 });
    expect(query("?offset=41000").offset()).toEqual({ ok: true, value: 41_000 });
    expect(query("?offset=-1").offset().ok).toBe(false);
    expect(query("?offset=x").offset().ok).toBe(false);
  });

  test("of any size stays a safe integer", () => {
    const parsed = query(`?offset=${"9".repeat(300)}`).offset();
    expect(parsed.ok && Number.isSafeInteger(parsed.value)).toBe(true);
  });
});

describe("a choice", () => {
  const options = { values: ["discover", "donate"], fallback: "discover" } as const;

  test("is one of the list, or the fallback when absent", () => {
    expect(query("?intent=donate").choice("intent", options)).toEqual({
      ok: true,
      value: "donate",
    });
    expect(query("?intent=").choice("intent", options)).toEqual({ ok: true, value: "discover" });
  });

  test("outside the list names the allowed values", () => {
    expect(query("?intent=steal").choice("intent", options)).toMatchObject({
      ok: false,
      failure: { parameter: "intent", allowed: ["discover", "donate"] },
    });
  });
});

describe("a text", () => {
  test.each([
    ["?q=clean+water", "clean water"],
    ["?q=caf%C3%A9", "café"],
    ["?q=a&q=b", "a"],
    ["?q=%00a%00b%1f", "a b"],
    ["?q=%20%20", null],
    ["", null],
    ["?q=%ff", "\uFFFD"],
    ["?q=%ud800", "%ud800"],
  ])("in %p is %p", (search, expected) => {
    expect(query(search).text("q")).toBe(expected);
  });

  test("is cut, and never in the middle of a character", () => {
    expect(query(`?q=${"a".repeat(100_000)}`).text("q")).toHaveLength(1_000);
    expect(query("?q=%F0%9F%8C%8D").text("q", 1)?.isWellFormed()).toBe(true);
  });
});

test("a flag is set by 1 and true alone", () => {
  const set = ["1", "true", "TRUE"].map((value) => query(`?f=${value}`).flag("f"));
  const unset = ["0", "false", "yes", "", "11"].map((value) => query(`?f=${value}`).flag("f"));
  expect(set).toEqual([true, true, true]);
  expect(unset).not.toContain(true);
});
