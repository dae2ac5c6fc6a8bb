import { describe, expect, test } from "bun:test";
import { BadSetting, readConfig } from "#api/config.ts";
import { openLimits } from "#api/http/rate-limit.ts";
import { operatorHealth } from "#api/operator/health.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import { aVisitor } from "#test/support/desk.ts";
import { from } from "#test/support/enriching.ts";
import { aService } from "#test/support/service.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

// Somebody guesses an operator's token from many addresses, or wants to keep the operator out.

const ada = "a-token-of-ada-0123456789";
const grace = "a-token-of-grace-0123456789";
let said: { level: string; of: unknown; text: unknown }[];
const service = forEachTest(() => {
  said = [];
  const at = (level: string) => (of: unknown, text?: unknown) =>
    void said.push({ level, of, text });
  return aService({
    env: { ALMONER_ADMIN_TOKENS: `ada:${ada},grace:${grace}`, ALMONER_TRUSTED_HOPS: "1" },
    context: {
      log: { info: at("info"), warn: at("warn"), error: at("error"), debug: at("debug") },
    },
  });
});

const bearer = async (token: string, address: string) =>
  (await service.get("/api/admin/queues", { ...from(address), authorization: `Bearer ${token}` }))
    .status;
const signIn = async (address: string, fields: Record<string, string>) => {
  const visitor = aVisitor(service, from(address));
  return (await visitor.send(await visitor.get("/desk"), "Sign in", fields)).status;
};
const audited = async (action: string) => {
  // Behind all that was written before.
  await service.store.write(async () => undefined);
  return (await readAudit(service.context, { action, limit: 100 })).entries;
};

test("guesses from many addresses are locked out together", async () => {
  const statuses: number[] = [];
  for (let at = 0; at < 80; at++) statuses.push(await bearer(`wrong-${at}`, `10.1.0.${at}`));
  expect(statuses.filter((status) => status === 401)).toHaveLength(60);
  expect(statuses.at(-1)).toBe(429);
  // From an address that no operator came from, no token is looked at.
  expect(await bearer(ada, "10.2.0.1")).toBe(429);
});

test("requests without a token lock nobody out", async () => {
  const statuses = new Set<number>();
  for (let at = 0; at < 80; at++) {
    statuses.add((await service.get("/api/admin/queues", from(`10.1.0.${at}`))).status);
  }
  for (let at = 0; at < 12; at++) {
    statuses.add(await signIn("10.1.1.1", { operator_name: "ada", operator_token: "" }));
  }
  expect([...statuses]).toEqual([401]);
  expect(await bearer(ada, "10.2.0.1")).toBe(200);
});

test("each time an operator is let in counts for 30 days, not only the first", async () => {
  let days = 0;
  const { config, secrets, log } = service.context;
  const limits = openLimits(":memory:", { config, secrets, log }, () => days * 86_400_000);
  const request = new Request("http://localhost/desk");
  const isKnown = () => limits.knowsOperator(request, "ada", 0);
  expect(await isKnown()).toBe(false);
  for (days of [1, 25]) await limits.knowsOperator(request, "ada", 1);
  days = 50;
  expect(await isKnown()).toBe(true);
  days = 57;
  expect(await isKnown()).toBe(false);
  limits.close();
});

test("guesses under one operator's name are locked out, other names are not", async () => {
  for (let at = 0; at < 10; at++) {
    const guess = { operator_name: "ada", operator_token: `wrong-${at}` };
    expect(await signIn(`10.1.0.${at}`, guess)).toBe(401);
  }
  expect(await signIn("10.2.0.1", { operator_name: "ada", operator_token: ada })).toBe(429);
  expect(await signIn("10.2.0.2", { operator_name: "grace", operator_token: grace })).toBe(200);
});

test("nobody locks an operator out of an address that operator came from", async () => {
  expect(await bearer(ada, "10.9.0.1")).toBe(200);
  expect(await signIn("10.9.0.2", { operator_token: ada })).toBe(200);
  for (let at = 0; at < 80; at++) await bearer(`wrong-${at}`, `10.1.0.${at % 20}`);
  // Behind the same address, too.
  for (let at = 0; at < 9; at++) {
    await bearer(`wrong-${at}`, "10.9.0.1");
    await signIn("10.9.0.2", { operator_name: "ada", operator_token: `wrong-${at}` });
  }
  expect(await bearer(ada, "10.9.0.1")).toBe(200);
  expect(await signIn("10.9.0.2", { operator_name: "ada", operator_token: ada })).toBe(200);
  // It is known for ada alone.
  expect(await bearer(grace, "10.9.0.1")).toBe(429);
});

test("a token signs its own operator in, with any name beside it", async () => {
  for (const operator_name of ["grace", "", "Ada L."]) {
    expect(await signIn("10.9.0.1", { operator_name, operator_token: ada })).toBe(200);
  }
  const entries = await audited("sign_in");
  expect(entries.map(({ operator }) => operator)).toEqual(["ada", "ada", "ada"]);
});

test("sign-ins, failed ones too, are logged and audited, without token and address", async () => {
  expect(await signIn("10.9.0.1", { operator_token: ada })).toBe(200);
  expect(await signIn("10.9.0.7", { operator_name: "ada", operator_token: "guess-1" })).toBe(401);
  expect(await signIn("10.9.0.7", { operator_name: "<b>eve", operator_token: "guess-2" })).toBe(
    401,
  );
  expect(await bearer("guess-3", "10.9.0.7")).toBe(401);
  expect(await audited("sign_in")).toMatchObject([{ operator: "ada", subject: "desk" }]);
  const failed = await audited("sign_in.failed");
  expect(failed).toMatchObject([{ operator: "ada", subject: "desk", detail: { count: 1 } }]);
  expect(said.filter(({ text }) => text === "sign-in failed")).toHaveLength(3);
  for (const secret of ["guess", "10.9.0", "<b>", ada]) {
    expect(JSON.stringify([failed, said])).not.toContain(secret);
  }
});

test("an attack is an alarm on the health page, and does not fill the audit log", async () => {
  for (let at = 0; at < 50; at++) await bearer(`wrong-${at}`, `10.1.0.${at}`);
  expect((await audited("sign_in.failed")).length).toBe(1);
  await service.context.activity.flush();
  const { access, warnings } = await operatorHealth({ ...service.context, chain: null });
  expect(access.failed_sign_ins).toBe(50);
  expect(warnings.join(" ")).toContain("50 sign-ins of operators failed");
});

test("a proxy that no setting tells of is told on the health page", async () => {
  using open = await aService();
  await open.get("/healthz");
  await open.context.activity.flush();
  const warnings = async () =>
    (await operatorHealth({ ...open.context, chain: null })).warnings.join(" ");
  expect(await warnings()).not.toContain("ALMONER_TRUSTED_HOPS");
  await open.get("/healthz", from("10.1.0.1"));
  await open.context.activity.flush();
  expect(await warnings()).toContain("ALMONER_TRUSTED_HOPS is 0");
});

describe("a token", () => {
  const reading = (token: string) => () => readConfig({ ALMONER_ADMIN_TOKENS: `ada:${token}` });
  test.each([
    "0123456789abcdef",
    "0123456789abcdef0123456789abcde",
    "correct-horse-battery",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "12345678901234567890123456789012345678",
  ])("of fewer than 128 bits, like %s, stops the start and is not repeated", (token) => {
    expect(reading(token)).toThrow(BadSetting);
    expect(reading(token)).toThrow("openssl rand -hex 32");
    expect(reading(token)).not.toThrow(token);
  });
  test("of 128 bits and more is taken", () => {
    expect(reading("9f86d081884c7d659a2feaa0c55ad015")).not.toThrow();
    expect(
      reading(Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")),
    ).not.toThrow();
    expect(reading("Zm9vYmFyYmF6cXV4-_1234")).not.toThrow();
  });
});
