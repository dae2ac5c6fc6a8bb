import { describe, expect, test } from "bun:test";
import { micro } from "#content/contract/base/money.ts";
import { changesEvent, donationEvent, testEvent } from "#content/operation/webhook-events.ts";
import type { FeedEntry } from "#content/contract/feed.ts";
import { changesPerMessageMax, WebhookMessage } from "#content/contract/webhook.ts";

const given = { baseUrl: "https://almoner.example", now: new Date("2026-06-01T12:00:00Z") };
const entry = (sequence: number, slug: string | null = "oak"): FeedEntry => ({
  sequence,
  slug,
  kind: slug === null ? "directory" : "changed",
  fields: ["city"],
  at: "2026-06-01T11:59:00Z",
});

describe("the event of changes", () => {
  test("names what changed and where to read it, never a value", () => {
    const event = changesEvent([entry(7), entry(8, null), entry(9, "elm")], given);
    expect(event?.id).toBe("changes-7-9");
    expect(WebhookMessage.parse(event?.message)).toEqual({
      type: "profiles.changed",
      timestamp: "2026-06-01T12:00:00Z",
      data: {
        changes: [
          {
            ...entry(7),
            slug: "oak",
            profile_url: "https://almoner.example/nonprofits/oak",
            api_url: "https://almoner.example/api/nonprofits/oak",
          },
          {
            ...entry(9),
            slug: "elm",
            profile_url: "https://almoner.example/nonprofits/elm",
            api_url: "https://almoner.example/api/nonprofits/elm",
          },
        ],
      },
    });
  });

  test("is none when no profile changed", () => {
    expect(changesEvent([entry(1, null)], given)).toBeNull();
    expect(changesEvent([], given)).toBeNull();
  });

  test("stays below 20 kB with the longest slugs and all fields", () => {
    const fields = [
      "name",
      "tagline",
      "mission",
      "description",
      "website",
      "city",
      "region",
      "contact_email",
    ];
    const many = Array.from({ length: changesPerMessageMax }, (_, at) => ({
      ...entry(1_000_000 + at, "x".repeat(80)),
      fields,
    }));
    expect(JSON.stringify(changesEvent(many, given)?.message).length).toBeLessThan(20_000);
  });
});

test("the event of a donation holds what is on the chain, exactly", () => {
  const donation = {
    id: "abc",
    slug: "oak",
    amount_micro_usdc: micro(9_007_199_254_740_993n),
    network: "solana:x",
    tx_signature: "5sig",
    settled_at: Date.parse("2026-06-01T11:00:00Z"),
  };
  const { id, message } = donationEvent(donation, given);
  expect(id).toBe("donation-abc");
  expect(WebhookMessage.parse(message).data).toEqual({
    donation_id: "abc",
    slug: "oak",
    amount_usdc: "9007199254.740993",
    network: "solana:x",
    tx_signature: "5sig",
    settled_at: "2026-06-01T11:00:00Z",
    profile_url: "https://almoner.example/nonprofits/oak",
  });
});

test("that it is void is an event of its own", () => {
  const donation = { id: "abc", slug: "oak", amount_micro_usdc: micro(1n), settled_at: 0 };
  const chain = { network: "solana:x", tx_signature: "5sig" };
  const { id, message } = donationEvent(
    { ...donation, ...chain },
    { ...given, type: "donation.voided" },
  );
  expect([id, WebhookMessage.parse(message).type]).toEqual([
    "donation-voided-abc",
    "donation.voided",
  ]);
});

test("a test says that it is one", () => {
  expect(WebhookMessage.parse(testEvent("1", given.now).message).type).toBe("webhook.test");
});
