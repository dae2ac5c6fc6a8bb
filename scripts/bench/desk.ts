import { reviewKinds } from "#content/contract/review.ts";
import type { Store } from "#content/store/open.ts";
import { type Figure, figure, median, runBench, serving } from "./support/harness.ts";
import { send } from "./support/load.ts";
import { column, serve } from "./support/serve.ts";

/** The slowest answer that an operator should wait for. */
const openMaxMs = 200;
const token = "a-token-for-the-bench-of-the-desk";

async function signIn(url: string): Promise<string> {
  const page = await fetch(`${url}/desk/sign-in`);
  const formCookie = page.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const form = /name="token"\s+value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
  const answer = await fetch(`${url}/desk/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: formCookie, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ token: form, operator_token: token }).toString(),
  });
  const session = answer.headers.getSetCookie()[0]?.split(";")[0];
  if (answer.status !== 303 || session === undefined) throw new Error("could not sign in");
  return session;
}

/** Numbers 1 to ?1, for statements that make many rows at once. */
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)`;
/** A profile for each number. */
const profile = `(SELECT id FROM nonprofits WHERE id = 1 + (i * 7919) % ?2)`;

/** An hour ago, in milliseconds since 1970: what waits for 180 days expires. */
const since = Date.now() - 3_600_000;

const statements: readonly string[] = [
  // Prose.
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, source_url, agent_id, agent_name, status, created_at)
   SELECT ${profile}, 'mission', 'prose', 'We do good work number ' || i || '. ' || substr(hex(randomblob(200)), 1, 300), 'x', 'https://source.example/' || i, 'agent-' || (i % 997), 'Agent', 'pending', ${since} + i FROM n`,
  // Contested: two values for one field.
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, created_at)
   SELECT i, 'region', 'structured', 'One', 'one', 'agent-a', 'A', 'pending', ${since} + i FROM n`,
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, created_at)
   SELECT i, 'region', 'structured', 'Two', 'two', 'agent-b', 'B', 'pending', ${since} + i FROM n`,
  `${numbers} INSERT INTO pending_fields (nonprofit_id, field, pending, list_order) SELECT i, 'region', 2, i FROM n WHERE true
   ON CONFLICT (nonprofit_id, field) DO UPDATE SET pending = 2`,
  // Contradicted: two agents against what agents made live.
  `${numbers} INSERT INTO provenance (nonprofit_id, field, set_by, source, agents, applied_at)
   SELECT i, 'city', 'consensus', 'agents', '["A","B"]', ${since} FROM n WHERE true
   ON CONFLICT (nonprofit_id, field) DO UPDATE SET set_by = 'consensus'`,
  `${numbers} INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, audit_only, confidence, created_at)
   SELECT i, 'city', 'structured', 'Elsewhere', 'elsewhere', 'agent-c', 'C', 'pending', 1, 2, ${since} + i FROM n`,
  // Registrations, whose names are as near to each other as names get.
  `${numbers} INSERT INTO onboarding_submissions (id, type, nonprofit_id, request, request_digest, status_digest, status, created_at)
   SELECT printf('%032x', i), 'claim', i, json_object('claim_slug', null, 'name', null, 'country_code', null, 'contact_email', 'office' || i || '@claimer.example', 'contact_name', null, 'usdc_wallet', null, 'mission', 'We do good.', 'website', null, 'city', 'Oslo', 'registration_number', null),
     'digest-' || i, 'status-' || i, 'pending_review', ${since} + i FROM n`,
  // Held wallets.
  `${numbers} INSERT INTO wallet_holds (submission_id, nonprofit_id, wallet_before, wallet, status, approved_by, approved_at, effective_at)
   SELECT printf('%032x', i), i, '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', 'held', 'ada', ${since}, 9700000000000 + i FROM n`,
  // Drafts.
  `${numbers} INSERT INTO recommendation_drafts (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id, agent_name, phase, status, created_at)
   SELECT ${profile}, '["donors interested in reading"]', '["donors interested in reading"]', 'It lends books.', 'https://source.example/', 'agent-' || i, 'Agent', 2, 'pending', ${since} + i FROM n`,
  // Corrections.
  `${numbers} INSERT INTO corrections (id, nonprofit_id, field, what_is_wrong, request_digest, status_digest, status, created_at)
   SELECT printf('%032x', i), i, 'city', 'It moved.', 'digest-' || i, 'status-' || i, 'pending_review', ${since} + i FROM n`,
  // Links of which an operator decides.
  `${numbers} INSERT INTO registration_links (org_id, other_org_id, state, source, set_at, gone, kept)
   SELECT 'XX-A-' || i, 'XX-B-' || i, 'waiting', 'same_number', ${since} + i, 'gone-' || i, (SELECT slug FROM nonprofits WHERE id = i) FROM n`,
  // The log.
  `${numbers} INSERT INTO audit_log (operator, action, subject, detail, happened_at)
   SELECT 'ada', CASE i % 2 WHEN 0 THEN 'review.approved' ELSE 'review.rejected' END, 'prose-' || i, '{"reason":"Because."}', ${since} + i FROM n`,
];

/** Puts this many things into every queue, spread over the profiles, and as many lines into the log. */
async function fillQueues(store: Store, count: number): Promise<void> {
  const [newest] = await column(store, "SELECT max(id) FROM nonprofits");
  const profiles = Number(newest);
  if (profiles < count)
    throw new Error(`${count} of a kind need as many profiles, not ${profiles}`);
  for (const sql of statements) {
    const args = sql.includes("?2") ? [count, profiles] : [count];
    await store.write((tx) => tx.raw.execute({ sql, args }));
  }
  await store.raw.execute("ANALYZE").catch(() => undefined);
}

await runBench({
  name: "desk",
  description: "Opens the desk's pages over HTTP with a number of items in each queue",
  options: {
    ...serving,
    items: [10_000, "Items that wait, of each kind"],
    times: [20, "How often each page is opened"],
  },
  run: async ({ profiles, port, items, times, folder }) => {
    await using service = await serve({
      folder,
      profiles,
      port,
      prepare: (store) => fillQueues(store, items),
      env: { ALMONER_ADMIN_TOKENS: `ada:${token}` },
    });
    const headers = { cookie: await signIn(service.url) };
    const figures: Figure[] = [];
    /** The first opening counts, too: no one warms a page up. */
    const open = async (what: string, path: string) => {
      const requests = Array.from({ length: times }, () => ({ path, headers }));
      const { timesMs } = await send(service.url, requests, { atOnce: 1 });
      figures.push(figure(`${what}: p50`, median(timesMs), "ms"));
      figures.push(figure(`${what}: slowest`, Math.max(...timesMs), "ms", { most: openMaxMs }));
    };
    for (const kind of reviewKinds) {
      const path = `/desk/queues/${kind}`;
      await open(`queue ${kind}`, path);
      const page = await (await fetch(service.url + path, { headers })).text();
      const later = /href="(\/desk\/queues\/[^"]*\?after=[^"]*)"/.exec(page)?.[1];
      if (later === undefined) throw new Error(`the queue of ${kind} has no second page`);
      await open(`queue ${kind}, its second page`, later.replaceAll("&amp;", "&"));
      await open(`one of ${kind}`, /href="(\/desk\/reviews\/[^"]+)"/.exec(page)?.[1] ?? "");
    }
    // Health is left out: it waits for a chain, and none runs here.
    for (const path of ["/desk", "/desk/log", "/desk/charts"]) await open(path, path);
    return { title: `The desk, ${profiles} profiles, ${items} of each kind`, figures };
  },
});
