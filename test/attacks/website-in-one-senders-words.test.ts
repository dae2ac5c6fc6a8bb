import { expect, test } from "bun:test";
import { addSlug, from, sendValue, submissionOf } from "#test/support/enriching.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { theService } from "#test/support/service.ts";

// Two agents agree on what is compared. What goes live must not hold anything that only the first of them sent.

const service = await theService({ env: { ALMONER_TRUSTED_HOPS: "1" } });

let caller = 0;
const send = (slug: string, agent_id: string, field: string, value: string) =>
  sendValue(service, slug, [agent_id, field, value]);

/** What stands on the profile after the attacker was first and an honest agent agreed. */
async function published(
  field: "website" | "contact_email",
  first: string,
  second: string,
  attacker = "first",
) {
  const slug = await addSlug(service);
  await send(slug, attacker, field, first);
  const answer = await submissionOf(await send(slug, "second", field, second));
  expect(answer.status).toBe("applied");
  return { slug, value: (await service.live(slug))[field] };
}

test.each([
  [
    "http://pages.example/3XYZabc#pay-here",
    "https://pages.example/3xyzABC",
    "https://pages.example",
  ],
  ["http://oak.example", "https://oak.example/", "https://oak.example"],
  ["https://oak.example", "http://oak.example", "https://oak.example"],
  [
    "https://oak.example/about#donate-to-me",
    "https://oak.example/about",
    "https://oak.example/about",
  ],
  ["https://oak.example/About?p=1", "https://oak.example/about?p=1", "https://oak.example"],
  ["https://oak.example:80/a", "https://oak.example/a", "https://oak.example/a"],
  ["https://www.oak.example./a", "https://oak.example/a", "https://oak.example/a"],
  ["https://www.oak.example/a/", "http://www.oak.example/a/", "https://www.oak.example/a/"],
  [
    "http://oak.example:8080/a?b=C",
    "http://oak.example:8080/a?b=C",
    "http://oak.example:8080/a?b=C",
  ],
])("of %s and %s only what both have goes live", async (first, second, live) => {
  expect((await published("website", first, second)).value).toBe(live);
});

test("nothing public tells what only the first sent, before and after an operator reverts it", async () => {
  const { slug, value } = await published(
    "website",
    "http://oak.example/GIVE#only-mine",
    "https://oak.example/give",
    "reverted",
  );
  expect(value).toBe("https://oak.example");
  const seen = async () => {
    const paths = [`/api/nonprofits/${slug}`, `/api/history/${slug}`, "/api/agents/exemplars"];
    const texts = await Promise.all(paths.map(async (path) => (await service.get(path)).text()));
    return texts.join("");
  };
  expect(await seen()).not.toContain("only-mine");
  const [operator] = service.context.secrets.adminTokens;
  const reverted = await service.post(
    "/api/admin/agents/revert",
    { agent_id: "reverted", reason: "test" },
    { authorization: `Bearer ${operator?.token}` },
  );
  expect(await reverted.json()).toMatchObject({ submissions: 1, emptied: 1 });
  expect(await seen()).not.toContain("only-mine");
});

test.each([
  [
    "https://evil.example/WALLET-CHANGED/to/7xKX",
    "https://paper.example/a",
    "https://evil.example/",
  ],
  ["https://evil.example/WALLET-CHANGED", null, "https://evil.example/"],
  [
    "https://evil.example/WALLET-CHANGED",
    "https://www.oak.example/about",
    "https://www.oak.example/about",
  ],
  ["https://github.com/WALLET-CHANGED", "https://github.com/oak", "https://github.com/"],
  ["https://paper.example/a", "https://www.paper.example/b", "https://paper.example/a"],
  [
    "https://wallet-changed-donate-at-evil.example/x/y?z",
    "https://wallet-changed-donate-at-evil.example/x/y?z",
    null,
  ],
  [
    "https://w-a-l-l-e-t-changed.evil.example/x",
    "https://paper.example/the-kitchen",
    "https://paper.example/",
  ],
  ["https://give-to-bob.example/", "https://do-not-trust-this-charity.example/", null],
  ["https://paper.example/%57ALLET-CHANGED", "https://paper.example/b", "https://paper.example/b"],
  [
    "https://oak.example/they-took-it-all-away",
    "https://www.oak.example/?q=send+it+to+Bob",
    "https://oak.example/",
  ],
  [
    "https://register-of-charities.charitycommission.gov.uk/en/charity-search/-/charity-details/1",
    "https://register-of-charities.charitycommission.gov.uk/en/charity-search/-/charity-details/1",
    "https://register-of-charities.charitycommission.gov.uk/en/charity-search/-/charity-details/1",
  ],
  ...[
    "search?q=office%40oak.example",
    "search?q=mailto%3AOFFICE%2540OAK.EXAMPLE",
    "team#office@oak.example",
    "office%EF%BC%A0oak.example",
  ].map(
    (page) =>
      [
        `https://paper.example/${page}`,
        `https://paper.example/${page}`,
        "https://paper.example/",
      ] as const,
  ),
  ["https://oak.example/@team", null, "https://oak.example/@team"],
  ["http://169.254.169.254/latest", "http://169.254.169.254/latest", null],
  ["http://router/reboot", "http://0x7f.1/reboot", null],
  ["https://bit.ly/anywhere", "https://bit.ly/anywhere", "https://bit.ly/"],
] as const)("of the sources %s and %s %s is shown", async (first, second, shown) => {
  const slug = await addSlug(service, { website: "https://oak.example" });
  for (const [at, source_url] of [first, second].entries()) {
    const body = { field: "city", value: "Oslo", agent_id: `agent-${at}`, source_url };
    const answer = await service.post(`/api/enrich/${slug}`, body, from(`10.3.1.${caller++}`));
    expect(answer.status).toBe(200);
  }
  expect((await service.live(slug)).provenance["city"]?.source_url ?? null).toBe(shown);
  for (const path of [`/api/nonprofits/${slug}`, `/api/history/${slug}`, "/api/agents/exemplars"]) {
    expect(await (await service.get(path)).text()).not.toMatch(
      /WALLET-CHANGED|give-to-bob|do-not-trust|they-took|send\+it|office/i,
    );
  }
});

test("a source that an operator took over, too, is shown without an e-mail address", async () => {
  const source_url = "https://paper.example/contact?mail=office@oak.example";
  const provenance = { mission: sourceFrom("operator", 0, { source_url }) };
  const slug = await addSlug(service, { provenance });
  const profile = await service.json(`/api/nonprofits/${slug}`);
  expect(profile.provenance.mission.source_url).toBe("https://paper.example/");
});

test("an address that differs in letter case goes live as it is compared", async () => {
  const first = "\u212Aate@Oak.example"; // The Kelvin sign, which is a k in lower case.
  expect((await published("contact_email", first, "kate@oak.example")).value).toBe(
    "kate@oak.example",
  );
});

test.each([
  "http://bit.ly/3XYZabc",
  "https://www.tinyurl.com/x",
  "https://go.t.co/a",
  "is.gd",
  "https://gg.gg./x",
  "https://www.google.com/url?q=https://evil.example",
  "https://google.co.uk/url/?q=https://evil.example",
  "https://l.facebook.com/l.php?u=https://evil.example",
  "https://www.youtube.com/redirect?q=https://evil.example",
])("a shortened link like %s is no website, and no donation page", async (value) => {
  const slug = await addSlug(service);
  const refused = await send(slug, "first", "website", value);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("shortens links");
  const address = /^https?:/.test(value) ? value : `https://${value}`;
  const body = { field: "donation_url", what_is_wrong: "Moved.", suggested_value: address };
  const corrected = await service.post(
    `/api/corrections/${slug}`,
    body,
    from(`10.3.2.${caller++}`),
  );
  expect(corrected.status).toBe(400);
  expect(await corrected.text()).toContain("donation_url is an address of a service that shortens");
});

test("a link with an e-mail address is no website: it would be public before anyone agreed", async () => {
  for (const page of ["contact?mail=office@oak.example", "people/OFFICE%40oak.example"]) {
    const value = `https://oak.example/${page}`;
    const refused = await send(await addSlug(service), "first", "website", value);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("never public"),
    ]);
  }
});

test("a page beside such an address is a website", async () => {
  for (const value of [
    "https://google.com/urls",
    "https://sites.google.com/url",
    "https://youtube.com/@oak",
    "https://flickr.com/people/12@N00",
  ]) {
    expect((await send(await addSlug(service), "first", "website", value)).status).toBe(200);
  }
});
