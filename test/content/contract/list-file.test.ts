import { expect, test } from "bun:test";
import { fileAccepted } from "#content/contract/operations/list-file.ts";

test.each([
  [null, [null, "*/*", "text/*", "application/json", "text/html,application/xml,*/*;q=0.8"]],
  [null, ["application/json, text/csv", "text/csv;q=0.5, */*", "text/csv;q=0", "text/csv;q=much"]],
  ["csv", ["text/csv", "TEXT/CSV ; Q=0.5", "text/csv, */*", "text/csv;q=0.5, */*;q=0.1"]],
  ["csv", ["application/json;q=0.9, text/csv"]],
  ["ndjson", ["application/ndjson", "application/x-ndjson"]],
  ["ndjson", ["text/csv;q=0.3, application/x-ndjson;q=0.4, application/json;q=0.2"]],
  ["ndjson", ["text/csv;q=0, application/x-ndjson;q=0.1, */*;q=0.1"]],
] as const)("%s is what is asked for by each Accept of %j", (format, headers) => {
  for (const accept of headers) expect([accept, fileAccepted(accept)]).toEqual([accept, format]);
});
