import { expect, test } from "bun:test";
import { fileAccepted } from "#content/contract/operations/list-file.ts";

test.each([
  [null, null],
  ["*/*", null],
  ["text/*", null],
  ["application/json", null],
  ["text/html,application/xhtml+xml,*/*;q=0.8", null],
  ["text/csv", "csv"],
  ["TEXT/CSV ; Q=0.5", "csv"],
  ["application/ndjson", "ndjson"],
  ["application/x-ndjson", "ndjson"],
  ["text/csv, */*", "csv"],
  ["text/csv;q=0.5, */*", null],
  ["text/csv;q=0.5, */*;q=0.1", "csv"],
  ["application/json, text/csv", null],
  ["application/json;q=0.9, text/csv", "csv"],
  ["text/csv;q=0.3, application/x-ndjson;q=0.4, application/json;q=0.2", "ndjson"],
  ["text/csv;q=0", null],
  ["text/csv;q=0, application/x-ndjson;q=0.1, */*;q=0.1", "ndjson"],
  ["text/csv;q=much", null],
])("Accept: %s asks for %s", (accept, format) => {
  expect(fileAccepted(accept)).toBe(format as never);
});
