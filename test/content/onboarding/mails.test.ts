import { describe, expect, test } from "bun:test";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import { networkMailsMax, openMails, waitsUntil } from "#content/onboarding/mails.ts";
import { mailOutbox } from "#content/store/tables/operations.ts";
import { anOnboardingService, theOnboardingService, secretOf } from "#test/support/onboarding.ts";
import { aNonprofit } from "#test/support/records.ts";

const dayMs = 86_400_000;
const mails: { to: string; subject: string; text: string }[] = [];
const mailsTo = (address: string) => mails.filter(({ to }) => to === address);
let isTaken = true;
let run: () => Promise<void>;
const service = await theOnboardingService([aNonprofit({ slug: "lantern" })], {
  ALMONER_SMTP_URL: "smtp://127.0.0.1:1",
  ALMONER_MAIL_FROM: "desk@almoner.example",
});
const { context } = service;
run = openMails({
  ...context,
  ...onboardingKeys(context),
  baseUrl: "https://almoner.example",
  sendMail: (mail) => {
    if (isTaken) mails.push(mail);
    return Promise.resolve(isTaken);
  },
});

const claim = (contact_email: string, mission = "Buy pills at spam.example") =>
  service.submit({ claim_slug: "lantern", contact_email, mission });
const later = async (ms: number) => {
  service.pass(ms);
  await run();
};

describe("a claimant who gave an address", () => {
  test("gets the link, then the decision, in words without any of the sender's", async () => {
    const answer = await claim("Office@lantern.example");
    await run();
    await later(dayMs);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({ to: "Office@lantern.example" });
    expect(mails[0]?.subject).toEndWith(": received");
    expect(mails[0]?.text).toContain(`#${secretOf(answer)}\n`);
    const reason = "Ask pills.example";
    await service.decide(`onboarding-${answer.submission_id}`, "reject", { reason });
    await later(0);
    await later(dayMs);
    expect(mails[1]?.subject).toEndWith(": not approved");
    for (const { subject, text } of mails) expect(subject + text).not.toMatch(/pills|spam/);
    await later(9 * dayMs);
    expect(mails).toHaveLength(2);
  });

  test("gets one mail a day: the next waits, and none is lost", async () => {
    const address = "daily@lantern.example";
    for (const at of [1, 2, 3]) await claim(address, `Mission ${at}.`);
    for (const count of [1, 1, 2, 2, 3, 3]) {
      await later(dayMs / 2);
      expect(mailsTo(address)).toHaveLength(count);
    }
  });

  test("gets it later when the mail server took nothing", async () => {
    const address = "later@lantern.example";
    await claim(address);
    isTaken = false;
    await run();
    isTaken = true;
    for (const count of [0, 1]) {
      await later(300_000);
      expect(mailsTo(address)).toHaveLength(count);
    }
  });

  test("gets nothing of a request that was withdrawn before", async () => {
    const address = "gone@lantern.example";
    const authorization = `Bearer ${secretOf(await claim(address))}`;
    await service.post("/api/onboard/withdraw", {}, { authorization });
    await later(dayMs);
    expect(mailsTo(address)).toEqual([]);
  });
});

test("the outbox holds no address, and is empty where no mail is sent", async () => {
  const before = await service.store.db.$count(mailOutbox);
  await claim("outbox@lantern.example");
  const rows = await service.store.db.select().from(mailOutbox);
  expect(rows).toHaveLength(before + 1);
  expect(JSON.stringify(rows)).not.toContain("lantern");
  using silent = await anOnboardingService([aNonprofit({ slug: "quiet" })]);
  await silent.submit({ claim_slug: "quiet", contact_email: "a@quiet.example" });
  expect(await silent.store.db.$count(mailOutbox)).toBe(0);
});

test("one network causes only so many first mails a day, and decisions pass", () => {
  const received = { network: "4:n", told: "received" } as const;
  const sent = Array.from({ length: networkMailsMax }, (_, at) => ({
    ...received,
    address_seal: `other ${at}`,
    sent_at: 1_000 + at,
  }));
  const mail = { address_seal: "mine", network: "4:n", told: "nothing" } as const;
  expect(waitsUntil(mail, sent)).toBe(1_000 + dayMs);
  expect(waitsUntil(mail, sent.slice(1))).toBe(0);
  expect(waitsUntil({ ...mail, told: "received" }, sent)).toBe(0);
  expect(waitsUntil({ ...mail, network: "4:m" }, sent)).toBe(0);
});
