import { expect, test } from "bun:test";
import { english } from "#content/language/texts.ts";
import { refusalView } from "#site/forms/status-view.ts";

const refused = (status: number, sent: boolean, code = "", waitS: number | null = null) =>
  refusalView({ page: "/refusal", status, code, detail: "X.", waitS, sent }, english);

test.each([
  [429, true, "Nothing was stored."],
  [503, true, "Nothing was stored."],
  [500, true, "It may not have been stored: look before you send it again."],
  [429, false, null],
  [500, false, null],
] as const)(
  "a refusal with %d of what was sent (%p) says %p of storing",
  (status, sent, stored) => {
    const { text, ...view } = refused(status, sent);
    expect(view.stored).toBe(stored);
    expect(text).not.toContain("stored");
  },
);

test("a wait is told in seconds up to 90, in whole minutes beyond", () => {
  const waits = [90, 91].map((waitS) => refused(429, false, "", waitS).wait);
  expect(waits).toEqual(["Try again in 90 seconds.", "Try again in 2 minutes."]);
});

test("a refusal of a file speaks of files where a table was sent alone", () => {
  expect(refused(415, true, "not_csv").text).toContain("CSV");
  expect(refused(415, true, "not_json").text).not.toContain("CSV");
});

test("a refusal without words of its own is no fault of ours below 500", () => {
  expect(refused(422, true).title).toBe("This was not accepted");
  expect(refused(500, true).title).toBe("Something went wrong on our side");
});
