import { afterAll, describe, expect, test } from "bun:test";
import { aMailServer } from "#test/support/mail-server.ts";
import { aNameServer } from "#test/support/name-server.ts";
import {
  anOnboardingService,
  theOnboardingService,
  operatorTokens,
  secretOf,
} from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aWallet } from "#test/support/wallets.ts";
import { aClient } from "#test/support/service.ts";
import { serveHere } from "#test/support/serve-here.ts";

const mailing = (url: string) => ({
  ALMONER_SMTP_URL: url,
  ALMONER_MAIL_FROM: "desk@almoner.example",
});
/** What the organisation's host shows at the address of the file. */
let file: string | null = null;
const site = serveHere(() => new Response(file ?? "", { status: file === null ? 404 : 200 }));
const [names, mail] = await Promise.all([aNameServer(), aMailServer()]);
const service = await theOnboardingService([], {
  ALMONER_CLAIM_RESOLVER: names.address,
  ALMONER_CLAIM_PORTS: `1,${site.port}`,
  ALMONER_CLAIM_ADDRESSES: "127.0.0.1",
  ...mailing(mail.url),
});
afterAll(async () => {
  names.close();
  mail.close();
  await site.stop(true);
});

let made = 0;
/** A claim that waits, and the host of its profile. */
async function aClaim(more: object = {}, website?: string | null, to = service) {
  const slug = `prover-${made++}`;
  const host = `${slug}.example`;
  names.names[host] = { addresses: [["127.0.0.1"]] };
  await to.add(aNonprofit({ slug, website: website === undefined ? `http://${host}` : website }));
  const answer = await to.submit({ claim_slug: slug, contact_email: `office@${host}`, ...more });
  return { slug, host, answer, id: answer.submission_id, secret: secretOf(answer) };
}

type Answer = { state?: string; message?: string; code?: string; reason?: string };

async function ask(path: string, secret: string, body: object = {}, to = service) {
  const headers = { authorization: `Bearer ${secret}`, ...aClient() };
  const response = await to.post(`/api/onboard/${path}`, body, headers);
  const answer = (await response.json()) as Answer;
  return { status: response.status, headers: response.headers, answer };
}
const prove = (secret: string, body = {}, to = service) => ask("host-proof", secret, body, to);
const codeMailed = () => /status#([\w-]{43})\.(\S+)/.exec(mail.mails[0]?.text ?? "") ?? [];
const hostCheck = async (id: string) =>
  (await service.review(id)).checks.find(({ name }) => name === "host");

describe("the sender of a claim", () => {
  test("learns what to publish, and proves control by a file, not by the token of another claim", async () => {
    const { host, answer, id, secret } = await aClaim();
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
    expect((await service.status(answer)).host_proof).toEqual(host_proof);
    file = null;
    const before = await prove(secret);
    expect(before).toMatchObject({ status: 200, answer: { state: "not_proven" } });
    expect(before.answer.message).toContain("is answered 404");
    file = (await aClaim()).answer.host_proof?.token ?? "";
    expect((await prove(secret)).answer.state).toBe("not_proven");
    file = `# Almoner\n${token}\n`;
    expect((await prove(secret)).answer).toMatchObject({ state: "proven", by: "file", host });
    expect((await service.status(answer)).host_proof).toMatchObject({ state: "proven" });
    const check = { outcome: "passed", message: expect.stringContaining("Proven") };
    expect(await hostCheck(id)).toMatchObject(check);
  });

  test("proves control by DNS; a name server that fails is told from a refusal, and stores nothing", async () => {
    const { host, answer, id, secret } = await aClaim();
    file = null;
    names.names[`_almoner-claim.${host}`] = { fails: true };
    const failed = await prove(secret);
    expect(failed).toMatchObject({ status: 503, answer: { code: "host_not_reached" } });
    expect(failed.headers.get("retry-after")).toBe("60");
    expect((await hostCheck(id))?.outcome).toBe("noted");
    names.names[`_almoner-claim.${host}`] = { texts: [answer.host_proof?.token ?? ""] };
    expect((await prove(secret)).answer).toMatchObject({ state: "proven", by: "dns" });
  });

  test("is told when there is nothing to prove against", async () => {
    const { answer, id, secret } = await aClaim({}, null);
    expect(answer.host_proof).toMatchObject({
      state: "nothing_to_prove_against",
      token: null,
      file_url: null,
      email: false,
    });
    expect((await prove(secret)).answer.message).toContain("names no website");
    expect((await hostCheck(id))?.message).toContain("Nothing to prove against");
  });

  test("proves control by a link sent to a mailbox at the host, once pressed, within 24 hours", async () => {
    for (const isLate of [false, true]) {
      const { host, secret } = await aClaim({ usdc_wallet: aWallet().address });
      mail.mails.length = 0;
      const first = await prove(secret, { email: true });
      expect(first).toMatchObject({ status: 200, answer: { state: "not_proven" } });
      expect(mail.mails[0]?.to).toBe(`office@${host}`);
      const [, link = "", code = ""] = codeMailed();
      expect(link).toBe(secret);
      const again = { status: 409, answer: { code: "mail_sent_before" } };
      expect(await prove(secret, { email: true })).toMatchObject(again);
      const refused = { code: "code_not_valid" };
      expect((await prove(secret, { code: `${code}x` })).answer).toMatchObject(refused);
      expect((await prove((await aClaim()).secret, { code })).answer).toMatchObject(refused);
      service.pass(86_400_000 - (isLate ? 0 : 1));
      const proven = { state: "proven", by: "email" };
      expect((await prove(secret, { code })).answer).toMatchObject(isLate ? refused : proven);
    }
  });

  test("gets no link for a mailbox elsewhere", async () => {
    const { answer, secret } = await aClaim({ contact_email: "office@elsewhere.example" });
    expect(answer.host_proof?.email).toBe(false);
    expect((await prove(secret, { email: true })).answer.code).toBe("mail_not_possible");
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
    const { slug, id, secret } = await aClaim();
    const { answer: status } = await ask("withdraw", secret);
    expect(status).toMatchObject({ status: "rejected", reason: "Withdrawn by its sender." });
    expect((await prove(secret)).answer.code).toBe("submission_decided");
    expect((await service.approve(id)).status).toBe(409);
    expect((await service.live(slug)).verified).toBe(0);
    const approved = await aClaim();
    await service.approve(approved.id);
    expect((await ask("withdraw", approved.secret)).status).toBe(409);
    expect((await ask("withdraw", "x")).status).toBe(404);
  });
});

test("an operator has the host looked at, and the log says so", async () => {
  const { answer, id } = await aClaim();
  file = answer.host_proof?.token ?? "";
  const bearer = { authorization: `Bearer ${operatorTokens.ada}` };
  const look = (review: string, headers = {}) =>
    service.post(`/api/admin/reviews/${review}/check`, undefined, headers);
  const review = `onboarding-${id}`;
  const looked = await look(review, bearer);
  expect([looked.status, await looked.json()]).toMatchObject([200, { state: "proven" }]);
  const log = await (await service.admin(`/api/admin/audit?subject=${review}`)).json();
  expect(log.entries).toMatchObject([{ action: "review.checked", detail: { host: "proven" } }]);
  expect((await look("prose-1", bearer)).status).toBe(404);
  expect((await look(review)).status).toBe(401);
});

test("a mail server that takes nothing is told, and the mail can be asked for again later", async () => {
  const refusing = await aMailServer({ refusing: true });
  using other = await anOnboardingService([], mailing(refusing.url));
  const { secret } = await aClaim({}, undefined, other);
  const mailed = async () => {
    const { status, answer } = await prove(secret, { email: true }, other);
    return [status, answer.code];
  };
  expect(await mailed()).toEqual([503, "mail_not_sent"]);
  // It may have arrived all the same: a server that is slow to answer must not become a mail bomb.
  expect(await mailed()).toEqual([409, "mail_sent_before"]);
  other.pass(600_000);
  expect(await mailed()).toEqual([503, "mail_not_sent"]);
  refusing.close();
});

test("one setting switches all of it off", async () => {
  using off = await anOnboardingService([], { ALMONER_CLAIM_CHECKS: "off" });
  const { answer, secret } = await aClaim({}, undefined, off);
  expect(answer.host_proof).toMatchObject({ state: "not_proven", token: null, email: false });
  const refused = { status: 409, answer: { code: "host_checks_off" } };
  expect(await prove(secret, {}, off)).toMatchObject(refused);
});
