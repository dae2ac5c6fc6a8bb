import { expect, test } from "bun:test";
import { aClient, theService } from "#test/support/service.ts";
import { from, sendValue } from "#test/support/enriching.ts";
import { aNonprofit } from "#test/support/records.ts";

// A stranger makes false values live under the public id of an agent. Undoing "the agent" would undo its own work, too.

const token = "operator-token-of-this-test-0123456789abcdef";
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_ADMIN_TOKENS: `ann:${token}` },
  records: [aNonprofit({ slug: "oak" }), aNonprofit({ slug: "elm" })],
});

const admin = { authorization: `Bearer ${token}` };
const enrich = (slug: string, agent: string, value: string, address: string, more = {}) =>
  sendValue(service, slug, [agent, "city", value], { ...from(address), ...more });
const cityOf = async (slug: string) => (await service.json(`/api/nonprofits/${slug}`)).city;

test("an operator undoes the submissions that are not the agent's, and binds its id for it", async () => {
  await enrich("oak", "scout", "Oslo", "192.0.2.1");
  await enrich("oak", "friend", "Oslo", "192.0.3.1");
  await enrich("elm", "scout", "Pyongyang", "198.51.100.1");
  await enrich("elm", "other", "Pyongyang", "198.51.100.1");
  const listed = await service.get("/api/admin/agents/submissions?agent_id=Scout", admin);
  const { submissions } = await listed.json();
  const [theirs] = submissions.filter(({ slug }: { slug: string }) => slug === "elm");
  expect([submissions.length, theirs.value]).toEqual([2, "Pyongyang"]);

  const body = { submissions: [theirs.submission_id], reason: "not sent by its owner" };
  const undone = await (await service.post("/api/admin/agents/revert", body, admin)).json();
  expect(undone).toMatchObject({ submissions: 1, emptied: 1, complete: true });
  expect([await cityOf("oak"), await cityOf("elm")]).toEqual(["Oslo", null]);
  const without = await service.post("/api/admin/agents/revert", { reason: "all" }, admin);
  expect((await without.json()).code).toBe("invalid_review");

  expect((await service.post("/api/agents", { agent_id: "scout" })).status).toBe(409);
  const claimed = { agent_id: "scout", reason: "known by mail" };
  const bound = await service.post("/api/admin/agents/bind", claimed, admin);
  const { agent_secret } = await bound.json();
  expect((await enrich("elm", "scout", "Bergen", "198.51.100.1")).status).toBe(401);
  const owner = { authorization: `Bearer ${agent_secret}` };
  expect((await enrich("elm", "scout", "Bergen", "192.0.2.1", owner)).status).toBe(200);
  const log = await (await service.get("/api/admin/audit", admin)).text();
  expect(log).toContain("agent.bound");
  expect(log).not.toContain(agent_secret);
});

test("an operator approves names that say no more than who someone is, and those are named", async () => {
  const name = (value: string | null) =>
    service.post(
      "/api/admin/agents/name",
      { agent_id: "helper", name: value, reason: "ok" },
      admin,
    );
  expect((await (await name("Donate to me")).json()).code).toBe("name_not_harmless");
  expect((await (await name("Helper Nine")).json()).code).toBe("name_of_no_owner");
  const bind = async () => {
    const bound = { agent_id: "helper", reason: "known by mail" };
    const answer = await service.post("/api/admin/agents/bind", bound, admin);
    return { authorization: `Bearer ${(await answer.json()).agent_secret}` };
  };
  const owner = await bind();
  expect((await name("Helper Nine")).status).toBe(200);
  await enrich("oak", "helper", "Oslo", "192.0.2.9", owner);
  const { provenance } = await service.json("/api/nonprofits/oak");
  expect(provenance.city.agents).toEqual(["scout", "friend", "Helper Nine"]);

  await enrich("elm", "third", "Bergen", "192.0.2.10");
  await enrich("elm", "helper", "Bergen", "192.0.2.9", await bind());
  const elm = await service.json("/api/nonprofits/elm");
  expect(elm.provenance.city.agents).toEqual(["scout", "third", "helper"]);
});

/** What an operator's action on an agent is answered with. */
const operate = async (action: "bind" | "name", body: object) => {
  const answer = await service.post(
    `/api/admin/agents/${action}`,
    { reason: "ok", ...body },
    admin,
  );
  const { code = answer.status, detail } = await answer.json();
  return [code, detail];
};
const nameOf = (agent_id: string, name: string | null) => operate("name", { agent_id, name });

test("no two agents have one name", async () => {
  for (const agent_id of ["acme-1", "hope-bot"]) await operate("bind", { agent_id });
  expect(await nameOf("acme-1", "Hope-Bot")).toEqual([
    "name_taken",
    expect.stringContaining("approved name of hope-bot"),
  ]);
  expect((await nameOf("acme-1", "Acme Research"))[0]).toBe(200);
  expect((await nameOf("acme-1", "ACME Research"))[0]).toBe(200);
  expect((await nameOf("hope-bot", "Acme research"))[0]).toBe("name_taken");
  expect((await operate("bind", { agent_id: "Acme Research" }))[0]).toBe("name_taken");
  expect((await nameOf("acme-1", null))[0]).toBe(200);
  expect((await nameOf("hope-bot", "Acme Research"))[0]).toBe(200);
  expect((await nameOf("acme-1", "ACME-1"))[0]).toBe(200);
});

test("a name shuts out no agent in use, and its id is free once the name goes", async () => {
  const send = async (agent_id: string) =>
    (await enrich("elm", agent_id, `Town of ${agent_id}`, "192.0.2.40")).status;
  expect(await send("claude")).toBe(200);
  await operate("bind", { agent_id: "acme-2" });
  expect((await nameOf("acme-2", "Claude"))[0]).toBe("name_in_use");
  expect(await send("claude")).toBe(200);

  await nameOf("acme-2", "First Helper");
  const refusal = await enrich("elm", "first helper", "Tromsø", "192.0.2.40");
  expect((await refusal.json()).detail).toContain("approved name of another agent");
  await nameOf("acme-2", "Second Helper");
  expect([await send("first helper"), await send("second helper")]).toEqual([200, 403]);
  await nameOf("acme-2", null);
  expect(await send("second helper")).toBe(200);
  await nameOf("acme-2", "Third Helper");
  await operate("bind", { agent_id: "acme-2" });
  expect(await send("third helper")).toBe(200);
});

test("no one goes by what reads like an approved name", async () => {
  await service.add(aNonprofit({ slug: "ash" }));
  await operate("bind", { agent_id: "lamp-1" });
  await enrich("ash", "lamp_post", "Oslo", "192.0.2.50");
  expect((await nameOf("lamp-1", "Lamp Post"))[0]).toBe("name_in_use");
  expect((await nameOf("lamp-1", "Lamp Research"))[0]).toBe(200);
  for (const agent_id of ["Lamp-Research", "LampResearch", "lamp.research", "lamp: research!"]) {
    const refusal = await enrich("ash", agent_id, "Bergen", "192.0.2.50");
    expect([refusal.status, (await refusal.json()).code]).toEqual([403, "agent_retired"]);
    expect((await service.post("/api/agents", { agent_id })).status).toBe(403);
  }
  await operate("bind", { agent_id: "other" });
  expect((await nameOf("other", "Lamp-Research"))[0]).toBe("name_taken");
  expect((await nameOf("other", "Lamp1"))[0]).toBe("name_taken");
  const named = { agent_id: "mere-stranger", agent_name: "LampResearch" };
  await service.post("/api/enrich/ash", { ...named, field: "city", value: "Oslo" }, aClient());
  const { provenance } = await service.json("/api/nonprofits/ash");
  expect(provenance.city.agents).toEqual(["lamp_post", "mere-stranger"]);
});

test("no one but an operator does either", async () => {
  for (const path of ["bind", "name"]) {
    const answer = await service.post(`/api/admin/agents/${path}`, { agent_id: "x", reason: "x" });
    expect(answer.status).toBe(401);
  }
});
