import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { anyText } from "#test/support/any-text.ts";
import { operations } from "#content/openapi/document.ts";
import { hostileNames } from "#test/support/hostile-markup.ts";
import { aContract } from "#test/support/contract.ts";
import { aNonprofit } from "#test/support/records.ts";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { theService } from "#test/support/service.ts";

const token = "0123456789abcdef0123456789abcdef";
const service = await theService({
  records: [aNonprofit({ slug: "oak", name: "Oak Trust" }), aNonprofit({ verified: 1 })],
  env: {
    ALMONER_ADMIN_TOKENS: `ops:${token}`,
    ALMONER_LOG_LEVEL: "silent",
    ALMONER_RECOMMENDATION_PHASE: "3",
    ALMONER_TRUSTED_HOPS: "1",
  },
});
const contract = aContract("https://almoner.example");

const operationsOf = (wanted: "get" | "post") =>
  // MCP has refusals of its own.
  operations.filter(({ method, path }) => method === wanted && path.startsWith("/api/"));
const namesIn = (part: "query" | "body") =>
  operations.flatMap((one) =>
    Object.keys((part === "query" ? one.query : one.body?.shape)?.shape ?? {}),
  );

/** Raw bytes as they may stand in a query string: anything but what ends it. */
const rawText = fc.oneof(
  anyText(60)
    // A lone surrogate cannot be encoded; it is sent as it would be by a careless client.
    .map((text) => encodeURIComponent(text.toWellFormed())),
  fc
    .uint8Array({ maxLength: 40 })
    .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
  fc.constantFrom(
    "%",
    "%zz",
    "%00",
    "%ff%fe",
    "-1",
    "0",
    "1e9",
    "999999999999999999999",
    "NaN",
    "' OR 1=1 --",
    "*",
    '"',
    "NEAR(",
    "a AND",
    "{}",
    "[]",
    ...hostileNames,
    "\u202E",
    "%F0%9F%8C%8D",
    "٣",
  ),
  fc.integer({ min: 1, max: 100_000 }).map((length) => "a".repeat(length)),
);

const queryString = fc
  .array(fc.tuple(fc.constantFrom("x", ...namesIn("query")), rawText), { maxLength: 6 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&"));

const header = fc.constantFrom(
  "if-none-match",
  "accept-encoding",
  "user-agent",
  "x-forwarded-for",
  "idempotency-key",
  "accept",
  "content-type",
);
const headerValue = fc
  .string({ maxLength: 80 })
  .map((text) => text.replaceAll(/[^\t\x20-\x7e]/g, "?").trim());
const headers = fc.dictionary(header, headerValue, { maxKeys: 3 });

/** Promise 16 says 1,000,000 requests: ALMONER_FULL_TESTS=1 sends them all, else fewer. */
const runs = isFull
  ? { reads: 150_000, paths: 500_000, bodies: 350_000 }
  : { reads: 400, paths: 400, bodies: 150 };
const timeoutMs = isFull ? 3_600_000 : 60_000;
let sentCount = 0;

async function answerOf(method: string, path: string, sent: Record<string, string>, body?: string) {
  // Between two requests a server's event loop turns, and only then the driver frees the rows that it has read.
  await setImmediate();
  sentCount += 1;
  return service.request(path, { method, headers: sent, ...(body === undefined ? {} : { body }) });
}

/** A million runs in one go say nothing for half an hour: they are begun again after this many. */
const roundMax = 10_000;
/** One look says little: the allocator keeps and returns 100 MB as it likes. */
const looksCompared = 5;
/** By how many MB memory grew in each test, once its code was compiled, its values drawn and caches filled. */
const growths: number[] = [];

async function inRounds<Given>(property: fc.IAsyncProperty<Given>, numRuns: number): Promise<void> {
  const looks: number[] = [];
  for (let left = numRuns; left > 0; left -= roundMax) {
    if (isFull) process.stdout.write(`${shown(left)} runs are left\n`);
    await fc.assert(property, { numRuns: Math.min(left, roundMax) });
    Bun.gc(true);
    looks.push(process.memoryUsage.rss() / 2 ** 20);
  }
  const earlyLooks = looks.slice(looksCompared, 2 * looksCompared);
  growths.push(median(looks.slice(-looksCompared)) - median(earlyLooks));
}

const median = (looks: number[]): number =>
  looks.toSorted((a, b) => a - b)[looksCompared >> 1] ?? Number.NaN;

const segment = anyText(60)
  .map((text) => encodeURIComponent(text.toWellFormed()))
  .filter((text) => text !== "" && !/^(?:\.|%2e)+$/i.test(text));
/** An operation with something in the place of its path, and who asks: an operator hears more. */
const asked = (method: "get" | "post") =>
  fc.record({
    operation: fc.constantFrom(...operationsOf(method)),
    place: fc.oneof(fc.constantFrom("oak", "nobody", "prose-1", "7"), segment),
    operator: fc.constantFrom({}, { authorization: `Bearer ${token}` }),
  });
const pathOf = ({ path }: (typeof operations)[number], place: string) =>
  path.replaceAll(/\{\w+\}/g, place);

/** Each from a network of its own: a limit must not stand in for an answer. */
const client = () => ({
  "x-forwarded-for": `10.${(sentCount >> 16) & 255}.${(sentCount >> 8) & 255}.${sentCount & 255}`,
});

describe("whatever is sent", () => {
  test(
    "a read is answered as described, and never with 5xx",
    async () => {
      await inRounds(
        fc.asyncProperty(asked("get"), queryString, headers, async (read, query, sent) => {
          const path = `${pathOf(read.operation, read.place)}?${query}`;
          const answer = await answerOf("GET", path, { ...client(), ...sent, ...read.operator });
          const { status } = answer;
          const wrong = await contract.problemsOf("GET", path, answer);
          expect([path, status < 500, wrong]).toEqual([path, true, []]);
        }),
        runs.reads,
      );
    },
    timeoutMs,
  );

  test(
    "a path is found or not, and never breaks the service",
    async () => {
      const part = fc.oneof(
        rawText.map((text) => text.slice(0, 300)),
        fc.constantFrom("..", ".", "", "api", "nonprofits", "oak"),
      );
      const path = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`);
      const method = fc.constantFrom("GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT", "PATCH");
      await inRounds(
        fc.asyncProperty(method, path, headers, async (verb, at, sent) => {
          const answer = await answerOf(verb, at, sent);
          expect(answer.status).toBeLessThan(500);
          expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        }),
        runs.paths,
      );
    },
    timeoutMs,
  );

  test(
    "a body is taken or refused as described, and never with 5xx",
    async () => {
      const value = fc.oneof(
        anyText(),
        fc.integer(),
        fc.constant(null),
        fc.array(anyText(), { maxLength: 3 }),
        fc.object({ maxDepth: 2 }),
        fc.webUrl(),
      );
      const submission = fc.record({
        field: fc.oneof(
          fc.constantFrom("city", "website", "mission", "contact_email", "programme"),
          fc.string(),
        ),
        value,
        agent_id: fc.oneof(fc.string(), fc.constant("bot"), fc.constant({})),
        fields: fc.option(fc.array(fc.anything(), { maxLength: 4 }), { nil: undefined }),
      });
      const members = fc.dictionary(fc.constantFrom(...namesIn("body")), value, { maxKeys: 8 });
      const text = fc.oneof(
        fc.json({ maxDepth: 10 }),
        anyText(200),
        fc
          .oneof(submission, members)
          .map((body) =>
            JSON.stringify(body, (_, one: unknown) =>
              typeof one === "bigint" ? String(one) : one,
            ),
          ),
      );
      await inRounds(
        fc.asyncProperty(asked("post"), text, async ({ operation, place, operator }, body) => {
          const path = pathOf(operation, place);
          const sent = { "content-type": "application/json", ...client(), ...operator };
          const answer = await answerOf("POST", path, sent, body);
          const { status } = answer;
          const wrong = await contract.problemsOf("POST", path, answer);
          expect([path, status < 500, wrong]).toEqual([path, true, []]);
        }),
        runs.bodies,
      );
    },
    timeoutMs,
  );

  test.skipIf(!isFull)("memory grows by less than 50 MB", () => {
    const grown = Math.max(...growths);
    measured(`${shown(sentCount)} requests, no 5xx, memory grown by ${shown(grown)} MB`);
    expect(grown).toBeLessThan(50);
  });
});
