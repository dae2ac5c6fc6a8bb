import { beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { queryIn, textIn } from "#api/http/query.ts";
import { parametersOf } from "#content/contract/base/request.ts";
import {
  choice,
  flag,
  limit,
  number,
  offset,
  yesOrNo,
} from "#content/contract/operations/query.ts";
import { operations, describedParameter } from "#content/openapi/document.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aClient, aService } from "#test/support/service.ts";
import { forTests } from "#test/support/at-file-top.ts";

const asking = (search: string) => new Request(`http://localhost/api/search${search}`);
const textOf = (search: string, lengthMax?: number) => textIn(asking(search), "q", lengthMax);
/** What a shape of the contract makes of a parameter. */
const read = (search: string, name: string, shape: z.ZodType) =>
  shape.safeParse(parametersOf(asking(search))[name]);
const anOffset = (search: string) => read(search, "offset", offset);

describe("a limit", () => {
  test.each([
    ["", 20],
    ["?limit=", 20],
    ["?limit=1", 1],
    ["?limit=51", 50],
    [`?limit=${"9".repeat(100_000)}`, 50],
    ["?limit=7&limit=9", 7],
    ["?limit=%207%20", 7],
  ])("in %p is %p", (search, expected) => {
    expect(read(search, "limit", limit(20, 50)).data).toBe(expected);
  });

  test.each(["0", "-1", "1.5", "ten", "1e1", "0x10", "%00", "%ff", "٣", "NaN", "Infinity"])(
    "of %p is refused by its name",
    (value) => {
      const { error } = read(`?limit=${value}`, "limit", limit(20, 50));
      expect(error?.issues[0]?.message).toStartWith("limit is a whole number from 1 to 50");
    },
  );
});

test.each([
  ["?offset=0", 0],
  ["", 0],
  ["?offset=41000", 41_000],
  ["?offset=-1", undefined],
  ["?offset=x", undefined],
])("an offset in %p is %p: a whole number from 0", (search, expected) => {
  expect(anOffset(search).data).toBe(expected as number);
  expect(Number.isSafeInteger(anOffset(`?offset=${"9".repeat(300)}`).data)).toBe(true);
});

describe("a choice", () => {
  const intents = ["discover", "donate"] as const;
  const intent = choice("intent", intents, "What for", "donate");

  test("of a page is one of the list, or absent", () => {
    const query = z.object({ intent });
    expect(queryIn(asking("?intent=donate"), { query })).toEqual({ intent: "donate" });
    expect(queryIn(asking("?intent="), { query })).toEqual({});
    expect(queryIn(asking("?intent=steal"), { query })).toEqual({});
  });

  test("outside the list names the allowed values", () => {
    const { error } = read("?intent=steal", "intent", intent);
    expect(error?.issues[0]).toMatchObject({
      message: "intent is one of discover, donate.",
      values: ["discover", "donate"],
    });
  });
});

test("a number of a page is a whole one from 1, or absent", () => {
  const query = z.object({ n: number("n", "", 1), limit: limit(20, 50) });
  const found = ["?n=7", "?n=0", "?n=x&limit=x", ""].map((search) =>
    queryIn(asking(search), { query }),
  );
  expect(found.map(({ n }) => n)).toEqual([7, undefined, undefined, undefined]);
  expect(found.map(({ limit: items }) => items)).toEqual([20, 20, 20, 20]);
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
    expect(textOf(search)).toBe(expected);
  });

  test("is cut, and never in the middle of a character", () => {
    expect(textOf(`?q=${"a".repeat(100_000)}`)).toHaveLength(1_000);
    expect(textOf("?q=%F0%9F%8C%8D", 1)?.isWellFormed()).toBe(true);
  });
});

test("yes or no may come in digits, and nothing else", () => {
  const answerTo = (value: string) => read(`?f=${value}`, "f", yesOrNo("f", "A filter"));
  const given = ["1", "true", "0", "false", ""].map((value) => answerTo(value).data);
  expect(given).toEqual(["true", "true", "false", "false", undefined]);
  expect(answerTo("yes").error?.issues[0]?.message).toBe("f is one of true, false, 1, 0.");
});

test("a flag is set by 1 and true, absent as 0, false and empty, and nothing else", () => {
  const flagOf = (value: string) => read(`?f=${value}`, "f", flag("f", "A filter", "1"));
  expect(["1", "true", "TRUE"].map((value) => flagOf(value).data)).toEqual(["1", "1", "1"]);
  for (const value of ["0", "false", ""]) {
    expect(flagOf(value)).toEqual({ success: true, data: undefined });
  }
  for (const value of ["yes", "11"]) {
    expect(flagOf(value).error?.issues[0]?.message).toBe("f is one of 1, true, 0, false.");
  }
});

describe("every read of the service", () => {
  const token = "0123456789abcdef0123456789abcdef";
  const service = forTests(() =>
    aService({
      env: { ALMONER_ADMIN_TOKENS: `ops:${token}`, ALMONER_READS_PER_MINUTE: "0" },
      records: [aNonprofit({ slug: "oak", name: "Oak" })],
    }),
  );
  beforeAll(async () => {
    const city = { field: "city", value: "Bergen", agent_name: "Scout" };
    for (const agent_id of ["scout-1", "scout-2"])
      await service.post("/api/enrich/oak", { ...city, agent_id });
    await service.post("/api/enrich/oak", { ...city, field: "region", agent_id: "scout-1" });
  });

  const reads = operations.filter(({ method, tag }) => method === "get" && tag !== "Files");
  const filled = (path: string) =>
    path.replace("{org_id}", "99-0305781").replaceAll(/\{\w+\}/g, "oak");
  async function answerOf(path: string) {
    const answer = await service.get(path, { authorization: `Bearer ${token}`, ...aClient() });
    const text = await answer.text();
    const body = (text.startsWith("{") ? JSON.parse(text) : {}) as object;
    return { status: answer.status, body };
  }
  const outcome = async (path: string) => {
    const { status, body } = await answerOf(path);
    return [status, (body as { code?: string }).code];
  };
  const plainOutcomes = new Map<string, ReturnType<typeof outcome>>();
  /** Of a path without parameters, asked once. */
  const plainOutcome = (path: string) => {
    const known = plainOutcomes.get(path) ?? outcome(path);
    plainOutcomes.set(path, known);
    return known;
  };
  const parameters = reads.flatMap((one) =>
    Object.entries(one.query?.shape ?? {}).map(([name, shape]) => ({
      path: filled(one.path),
      name,
      listed: (describedParameter(shape as z.ZodType)["schema"] as { enum?: string[] }).enum,
    })),
  );

  const asksForMoney = (path: string) => path.startsWith("/api/donate/");
  const answers = reads.map(({ path }) => filled(path));

  test.each(answers.filter((path) => !asksForMoney(path)))(
    "%s answers as before to a parameter that it does not know, and names it in JSON",
    async (path) => {
      const { status, body } = await answerOf(`${path}?nobody_knows_this=1&utm_source=a&ref=b`);
      expect([status, (body as { code?: string }).code]).toEqual(await plainOutcome(path));
      const isFile = path.endsWith(".md") || path.endsWith(".atom") || path.startsWith("/changes/");
      const isOurs = Object.keys(body).length > 0 && !isFile && !path.startsWith("/reconcile");
      const ignored = [{ name: "nobody_knows_this", nearest: null }];
      expect(body).toEqual(isOurs ? expect.objectContaining({ ignored }) : body);
      expect((await answerOf(`${path}?fbclid=1`)).body).not.toHaveProperty("ignored");
    },
  );

  test.each(answers.filter(asksForMoney))("%s refuses a parameter unknown to it", async (path) => {
    for (const name of ["amount_usdc", "memory"]) {
      const { status, body } = await answerOf(`${path}?${name}=5`);
      const said = { code: "unknown_parameter", parameter: name, errors: [{ path: name }] };
      expect([status, body]).toMatchObject([400, said]);
      if (name === "amount_usdc" && !path.endsWith("/status"))
        expect(body).toMatchObject({
          nearest: "amount",
          detail: expect.stringContaining("nearest: amount"),
        });
    }
    expect(await outcome(`${path}?utm_source=a&gclid=b`)).toEqual(await plainOutcome(path));
  });

  test("names what is nearest, of members of a body at any depth, too", async () => {
    const asked = "/api/search?query=oak&countrycode=KE&country=Kenya";
    expect((await answerOf(asked)).body).toMatchObject({
      total: 1,
      ignored: [
        { name: "query", nearest: "q" },
        { name: "countrycode", nearest: "country" },
      ],
    });
    expect((await answerOf("/api/recommend?query=oak")).body).toMatchObject({
      code: "nothing_asked",
      ignored: [{ name: "query", nearest: "q" }],
    });
    const sent = await service.post("/api/enrich/oak", {
      agent_id: "scout-3",
      agentname: "Scout",
      fields: [{ field: "website", value: "https://oak.example", source: "x", why: 1 }],
    });
    expect([sent.status, (await sent.json()).ignored]).toEqual([
      200,
      [
        { name: "agentname", nearest: "agent_name" },
        { name: "fields[0].source", nearest: "source_url" },
        { name: "fields[0].why", nearest: null },
      ],
    ]);
  });

  test("what writes refuses an unknown parameter, and stores nothing", async () => {
    const before = await service.json("/api/enrichments/stats");
    const body = { field: "website", value: "https://oak.example", agent_id: "scout-4" };
    const sent = await service.post("/api/enrich/oak?field_name=website", body);
    expect([sent.status, await sent.json()]).toMatchObject([400, { code: "unknown_parameter" }]);
    expect(await service.json("/api/enrichments/stats")).toEqual(before);
    expect((await service.post("/api/enrich/oak?utm_medium=x", body)).status).toBe(200);
  });

  test("an answer that names something is not kept in the place of another", async () => {
    const plain = await service.json("/api/search?q=oak");
    const named = await service.get("/api/search?q=oak&x=1", { "accept-encoding": "gzip, br" });
    expect(named.headers.get("content-encoding")).toBeNull();
    expect(await named.json()).toEqual({ ...plain, ignored: [{ name: "x", nearest: null }] });
    expect(await service.json("/api/search?q=oak")).toEqual(plain);
  });

  test.each(parameters)("$path takes an empty $name as absent", async ({ path, name }) => {
    expect(await outcome(`${path}?${name}=`)).toEqual(await plainOutcome(path));
  });

  test.each(parameters.filter(({ listed }) => listed !== undefined))(
    "$path refuses a $name outside its list, and names the list",
    async ({ path, name }) => {
      const detail = expect.stringContaining(`${name} is one of`);
      const refusal = { code: "invalid_parameter", parameter: name, detail };
      const { status, body } = await answerOf(`${path}?${name}=outside`);
      expect([status, body]).toEqual([400, expect.objectContaining(refusal)]);
    },
  );

  test("writes times as the contract does, and its own as ISO 8601 with Z", async () => {
    // Exemplars were published with the contract's form.
    const ofContract = new Set(["submitted_at", "rejected_at", "created_at", "last_seen"]);
    const isOfContract = (name: string, path: string) =>
      ofContract.has(name) || path === "/api/agents/exemplars";
    const wrong: string[] = [];
    const look = (value: unknown, name: string, path: string): void => {
      if (value !== null && typeof value === "object") {
        for (const [key, inner] of Object.entries(value))
          look(inner, Array.isArray(value) ? name : key, path);
      } else if (typeof value === "string" && /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value)) {
        const form = isOfContract(name, path)
          ? /^[\d-]{10} [\d:]{8}$/
          : /^[\d-]{10}T[\d:]{8}(\.\d{3})?Z$/;
        if (!form.test(value)) wrong.push(`${path} ${name}: ${value}`);
      }
    };
    for (const { path } of reads) look((await answerOf(filled(path))).body, "", path);
    expect(wrong).toEqual([]);
  });
});
