import { expect, test } from "bun:test";
import { theService } from "#test/support/service.ts";
import { aNonprofit } from "#test/support/records.ts";

// A page of another site has its visitors' browsers write for it: many networks, none of them the attacker's.

const service = await theService({
  env: { ALMONER_RECOMMENDATION_PHASE: "2" },
  records: [aNonprofit({ slug: "oak", usdc_wallet: null })],
});

const crossSite = { "sec-fetch-site": "cross-site" };
const enrichment = { field: "city", value: "Oslo", agent_id: "visitor" };
const correction = { field: "mission", what_is_wrong: "No.", suggested_value: "Trees." };
const call = (name: string, given: object) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: { slug: "oak", ...given } },
});

test.each([
  ["/api/enrich/oak", enrichment],
  ["/api/onboard", { claim_slug: "oak", contact_email: "a@oak.example" }],
  ["/api/corrections/oak", correction],
  ["/api/recommend/drafts", { slug: "oak", agent_id: "visitor" }],
  ["/api/gaps", { looked_for: "The wells of Oak." }],
])("%s is refused with the reason", async (path, body) => {
  const answer = await service.post(path, body, crossSite);
  expect([answer.status, (await answer.json()).code]).toEqual([403, "cross_site_write"]);
});

test("an organisation's form and a correction are refused with whatever token", async () => {
  for (const path of ["/api/onboard", "/api/corrections/oak"]) {
    const headers = { ...crossSite, authorization: "Bearer agent_anything" };
    expect((await (await service.post(path, {}, headers)).json()).code).toBe("cross_site_write");
  }
});

test("a button of a status page is refused, and looking goes on", async () => {
  const ask = async (fields: Record<string, string>) =>
    (await service.post("/api/onboard/status/page", { secret: "x", ...fields }, crossSite)).status;
  expect(await ask({ do: "withdraw" })).toBe(403);
  expect(await ask({})).not.toBe(403);
});

test("a tool that writes is refused, and reads go on", async () => {
  for (const body of [
    call("submit_enrichment", enrichment),
    call("report_wrong_value", correction),
  ])
    expect(await (await service.post("/mcp", body, crossSite)).text()).toContain(
      "cross_site_write",
    );
  expect((await service.json("/api/enrichments/stats")).total_enrichments).toBe(0);
  expect((await service.get("/api/search?q=oak", crossSite)).status).toBe(200);
  const own = await service.post("/mcp", call("report_wrong_value", correction));
  expect(await own.text()).toContain("waits for an");
});

test.each(["same-origin", "same-site", "none"])("%s may write", async (site) => {
  const answer = await service.post("/api/enrich/oak", enrichment, { "sec-fetch-site": site });
  expect(answer.status).toBe(200);
});

test("the secret of a bound agent lets its owner's pages write, and no other", async () => {
  const agent_id = "owned";
  expect((await service.post("/api/agents", { agent_id }, crossSite)).status).toBe(403);
  const { agent_secret } = await (await service.post("/api/agents", { agent_id })).json();
  const answers = [];
  for (const secret of [agent_secret, "agent_guessed"]) {
    const headers = { ...crossSite, authorization: `Bearer ${secret}` };
    answers.push(
      (await service.post("/api/enrich/oak", { ...enrichment, agent_id }, headers)).status,
    );
  }
  // Neither a secret of no agent, nor the token of a gateway.
  for (const token of ["agent_anything", "eyJhbGciOiJIUzI1NiJ9.e30.x"]) {
    const headers = { ...crossSite, authorization: `Bearer ${token}` };
    answers.push((await service.post("/api/enrich/oak", enrichment, headers)).status);
  }
  expect(answers).toEqual([200, 401, 401, 403]);
});

test("the widget and wallets ask for payments from anywhere", async () => {
  for (const answer of [
    await service.get("/api/donate/oak?amount=1", crossSite),
    await service.post("/api/donate/oak", { tx_signature: "x" }, crossSite),
  ]) {
    expect((await answer.json()).code).not.toBe("cross_site_write");
  }
});
