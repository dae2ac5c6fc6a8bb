import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OnboardingAnswer, OnboardingStatus } from "#content/contract/onboarding.ts";
import { ReviewItem } from "#content/contract/review.ts";
import { aMailServer } from "#test/support/mail-server.ts";
import { aNameServer } from "#test/support/name-server.ts";
import {
  anOnboardingService,
  operatorTokens,
  type OnboardingService,
} from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";

let names: Awaited<ReturnType<typeof aNameServer>>;
let mail: Awaited<ReturnType<typeof aMailServer>>;
let service: OnboardingService;
/** What the organisation's host shows at the address of the file. */
let file: string | null = null;
const site = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response(file ?? "", { status: file === null ? 404 : 200 }),
});
beforeAll(async () => {
  [names, mail] = await Promise.all([aNameServer(), aMailServer()]);
  service = await anOnboardingService([], {
    ALMONER_CLAIM_RESOLVER: names.address,
    ALMONER_CLAIM_PORTS: `1,${site.port}`,
    ALMONER_CLAIM_ADDRESSES: "127.0.0.1",
    ALMONER_SMTP_URL: mail.url,
    ALMONER_MAIL_FROM: "desk@almoner.example",
  });
});
afterAll(async () => {
  service.close();
  names.close();
  mail.close();
  await site.stop(true);
});

let made = 0;
/** A claim that waits, and the host of its profile. */
async function aClaim(more: object = {}, website?: string | null) {
  const slug = `prover-${made++}`;
  const host = `${slug}.example`;
  names.names[host] = { addresses: [["127.0.0.1"]] };
  await service.add(
    aNonprofit({ slug, website: website === undefined ? `http://${host}` : website }),
  );
  const sent = { claim_slug: slug, contact_email: `office@${host}`, ...more };
  const answer = await service.submit(sent);
  return { slug, host, answer, secret: secretOf(answer) };
}

const secretOf = ({ status_url }: OnboardingAnswer) => status_url?.split("#")[1] ?? "";

type Answer = { state?: string; message?: string; code?: string; reason?: string };

async function ask(path: string, secret: string, body: object = {}) {
  const client = `10.5.${(made >> 8) & 255}.${made++ & 255}`;
  const headers = { authorization: `Bearer ${secret}`, "x-forwarded-for": client };
  const response = await service.post(path, body, headers);
  const answer = (await response.json()) as Answer;
  return { status: response.status, headers: response.headers, answer };
}
const prove = (secret: string, body = {}) => ask("/api/onboard/host-proof", secret, body);
const statusOf = async (secret: string) => {
  const headers = { authorization: `Bearer ${secret}` };
  return (await (await service.get("/api/onboard/status", headers)).json()) as OnboardingStatus;
};
const hostCheck = async (id: string) => {
  const found = await service.admin(`/api/admin/reviews/onboarding-${id}`);
  return ReviewItem.parse(await found.json()).checks.find(({ name }) => name === "host");
};

describe("the sender of a claim", () => {
  test("learns what to publish, and proves control by a file", async () => {
    const { host, answer, secret } = await aClaim();
    const { host_proof } = answer;
    expect(host_proof).toMatchObject({
      state: "not_proven",
      host,
      file_url: `http://${host}/.well-known/almoner-claim.txt`,
      dns_name: `_almoner-claim.${host}`,
      email: true,
    });
    const token = host_proof?.token ?? "";
    expect(token).toMatch(/^almoner-claim=[\w-]{43}$/);
    expect((await statusOf(secret)).host_proof).toEqual(host_proof);
    file = null;
    const before = await prove(secret);
    expect(before).toMatchObject({ status: 200, answer: { state: "not_proven" } });
    expect(before.answer.message).toContain("is answered 404");
    file = `# Almoner\n${token}\n`;
    expect((await prove(secret)).answer).toMatchObject({ state: "proven", by: "file", host });
    expect((await statusOf(secret)).host_proof).toMatchObject({ state: "proven" });
    const check = await hostCheck(answer.submission_id);
    expect(check).toMatchObject({ outcome: "passed", message: expect.stringContaining("Proven") });
  });

  test("is not helped by the token of another claim", async () => {
    const other = await aClaim();
    const { secret } = await aClaim();
    file = other.answer.host_proof?.token ?? "";
    expect((await prove(secret)).answer.state).toBe("not_proven");
  });

  test("proves control by DNS; a name server that fails is told from a refusal, and stores nothing", async () => {
    const { host, answer, secret } = await aClaim();
    file = null;
    names.names[`_almoner-claim.${host}`] = { fails: true };
    const failed = await prove(secret);
    expect(failed).toMatchObject({ status: 503, answer: { code: "host_not_reached" } });
    expect(failed.headers.get("retry-after")).toBe("60");
    expect((await hostCheck(answer.submission_id))?.outcome).toBe("noted");
    names.names[`_almoner-claim.${host}`] = { texts: [answer.host_proof?.token ?? ""] };
    expect((await prove(secret)).answer).toMatchObject({ state: "proven", by: "dns" });
  });

  test("is told when there is nothing to prove against", async () => {
    const { answer, secret } = await aClaim({}, null);
    expect(answer.host_proof).toMatchObject({
      state: "nothing_to_prove_against",
      token: null,
      file_url: null,
      email: false,
    });
    expect((await prove(secret)).answer.message).toContain("names no website");
    const check = await hostCheck(answer.submission_id);
    expect(check?.message).toContain("Nothing to prove against");
  });

  test("proves control by a link sent to a mailbox at the host, once pressed", async () => {
    const { host, secret } = await aClaim({ usdc_wallet: aWallet().address });
    mail.mails.length = 0;
    const asked = await prove(secret, { email: true });
    expect(asked).toMatchObject({ status: 200, answer: { state: "not_proven" } });
    const [sent] = mail.mails;
    expect(sent?.to).toBe(`office@${host}`);
    const [, link = "", code = ""] = /status#([\w-]{43})\.(\S+)/.exec(sent?.text ?? "") ?? [];
    expect(link).toBe(secret);
    expect(await prove(secret, { email: true })).toMatchObject({
      status: 409,
      answer: { code: "mail_sent_before" },
    });
    expect((await prove(secret, { code: `${code}x` })).answer.code).toBe("code_not_valid");
    const other = await aClaim();
    expect((await prove(other.secret, { code })).answer.code).toBe("code_not_valid");
    expect((await prove(secret, { code })).answer).toMatchObject({ state: "proven", by: "email" });
  });

  test("gets no link after 24 hours, and none for a mailbox elsewhere", async () => {
    const { secret } = await aClaim();
    mail.mails.length = 0;
    await prove(secret, { email: true });
    const [, code = ""] = /status#[\w-]{43}\.(\S+)/.exec(mail.mails[0]?.text ?? "") ?? [];
    service.pass(86_400_000);
    expect((await prove(secret, { code })).answer.code).toBe("code_not_valid");
    const elsewhere = await aClaim({ contact_email: "office@elsewhere.example" });
    expect(elsewhere.answer.host_proof?.email).toBe(false);
    expect((await prove(elsewhere.secret, { email: true })).answer.code).toBe("mail_not_possible");
  });

  test("has at most ten links sent to the mailboxes of one host in a day, by however many requests", async () => {
    const { slug, host, secret } = await aClaim();
    mail.mails.length = 0;
    for (let at = 0; at < 4; at++) {
      await prove(secret, { email: true });
      service.pass(600_000);
    }
    for (let at = 0; at < 8; at++) {
      const contact_email = `office+${at}@${at % 2 === 0 ? "www." : ""}${host}`;
      const other = secretOf(await service.submit({ claim_slug: slug, contact_email }));
      const { status } = await prove(other, { email: true });
      expect(status).toBe(at < 6 ? 200 : 409);
    }
    expect(mail.mails).toHaveLength(10);
    service.pass(86_400_000);
    expect((await prove(secret, { email: true })).status).toBe(200);
  });

  test("withdraws a request that waits, and no other", async () => {
    const { slug, answer, secret } = await aClaim();
    const { answer: status } = await ask("/api/onboard/withdraw", secret);
    expect(status).toMatchObject({ status: "rejected", reason: "Withdrawn by its sender." });
    expect((await prove(secret)).answer.code).toBe("submission_decided");
    const late = await service.decide(`onboarding-${answer.submission_id}`, "approve");
    expect(late.status).toBe(409);
    expect((await service.live(slug)).verified).toBe(0);
    const approved = await aClaim();
    await service.decide(`onboarding-${approved.answer.submission_id}`, "approve");
    expect((await ask("/api/onboard/withdraw", approved.secret)).status).toBe(409);
    expect((await ask("/api/onboard/withdraw", "x")).status).toBe(404);
  });
});

test("an operator has the host looked at, and the log says so", async () => {
  const { answer } = await aClaim();
  file = answer.host_proof?.token ?? "";
  const bearer = { authorization: `Bearer ${operatorTokens.ada}` };
  const id = `onboarding-${answer.submission_id}`;
  const path = (review: string) => `/api/admin/reviews/${review}/check`;
  const looked = await service.post(path(id), undefined, bearer);
  expect([looked.status, await looked.json()]).toMatchObject([200, { state: "proven" }]);
  const log = await (await service.admin(`/api/admin/audit?subject=${id}`)).json();
  expect(log.entries).toMatchObject([{ action: "review.checked", detail: { host: "proven" } }]);
  expect((await service.post(path("prose-1"), undefined, bearer)).status).toBe(404);
  expect((await service.post(path(id), undefined)).status).toBe(401);
});

test("a mail server that takes nothing is told, and the mail can be asked for again later", async () => {
  const refusing = await aMailServer({ refusing: true });
  const other = await anOnboardingService([], {
    ALMONER_SMTP_URL: refusing.url,
    ALMONER_MAIL_FROM: "desk@almoner.example",
  });
  await other.add(aNonprofit({ slug: "mailed", website: "https://mailed.example" }));
  const sent = { claim_slug: "mailed", contact_email: "office@mailed.example" };
  const secret = secretOf(await other.submit(sent));
  const mailed = async () => {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await other.post("/api/onboard/host-proof", { email: true }, headers);
    return [response.status, (await response.json()).code];
  };
  expect(await mailed()).toEqual([503, "mail_not_sent"]);
  // It may have arrived all the same: a server that is slow to answer must not become a mail bomb.
  expect(await mailed()).toEqual([409, "mail_sent_before"]);
  other.pass(600_000);
  expect(await mailed()).toEqual([503, "mail_not_sent"]);
  other.close();
  refusing.close();
});

test("one setting switches all of it off", async () => {
  const off = await anOnboardingService([], { ALMONER_CLAIM_CHECKS: "off" });
  await off.add(aNonprofit({ slug: "off", website: "https://off.example" }));
  const answer = await off.submit({ claim_slug: "off", contact_email: "office@off.example" });
  expect(answer.host_proof).toMatchObject({ state: "not_proven", token: null, email: false });
  const response = await off.post(
    "/api/onboard/host-proof",
    {},
    { authorization: `Bearer ${secretOf(answer)}` },
  );
  expect([response.status, (await response.json()).code]).toEqual([409, "host_checks_off"]);
  off.close();
});
