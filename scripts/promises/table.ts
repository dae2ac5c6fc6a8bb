/** A test file, or some tests of it by a part of their names, or a bench; `args` of a bench run it with full counts. */
export type Proof =
  | { test: string; name?: string }
  | { bench: string; args: readonly string[]; quick: readonly string[] };

/** What the system keeps under load, faults and hostile input: a claim, its figure, and what proves it. */
export type KeptPromise = {
  number: number;
  claim: string;
  asked: string;
  proofs: readonly Proof[];
};

export const promises: readonly KeptPromise[] = [
  {
    number: 1,
    claim: "A crash tears no transaction and loses no acknowledged write",
    asked: "200 × kill -9 while writing; integrity check ok",
    proofs: [{ test: "test/flows/enrich-crash.test.ts" }],
  },
  {
    number: 2,
    claim: "Readers never see a torn file, a missing page or a missing asset",
    asked: "100,000 reads, 500 publications, 50 kills",
    proofs: [{ test: "test/flows/crash.test.ts" }],
  },
  {
    number: 3,
    claim: "A value is applied exactly once, and no value is overwritten",
    asked: "10,000 submissions at once, 2 processes",
    proofs: [{ test: "test/flows/exactly-once.test.ts" }],
  },
  {
    number: 4,
    claim: "Writes do not block the event loop, and a locked store is told, not waited for",
    asked: "loop lag p99 < 20 ms at 500 writes/s; 503 with Retry-After",
    proofs: [
      { test: "test/flows/event-loop.test.ts" },
      { test: "test/api/http/problems.test.ts", name: "a lock that another process holds" },
    ],
  },
  {
    number: 5,
    claim: "With a full disk writes are refused, reads go on, and it recovers",
    asked: "507 or 503; writes again within 5 s of free room",
    proofs: [
      { test: "test/api/http/problems.test.ts", name: "full disk|disk that is full" },
      { test: "test/site/bundle/export-step.test.ts" },
    ],
  },
  {
    number: 6,
    claim: "A backup comes back whole, and shows the same bytes",
    asked: "41,000 profiles restored within 60 s; the bundle byte-identical",
    proofs: [{ test: "test/flows/backup-size.test.ts" }, { test: "test/flows/backup.test.ts" }],
  },
  {
    number: 7,
    claim: "A signature is credited once for each paid wallet",
    asked: "one signature 1,000 times at once, several slugs, 2 processes",
    proofs: [
      { test: "test/flows/donate-processes.test.ts" },
      { test: "test/api/donation/donate-replay.test.ts" },
    ],
  },
  {
    number: 8,
    claim: "A lying or failing node credits nothing false and loses no donation",
    asked: "20 % errors, 10 s hangs, nulls for 24 h; 503 within 3 s, settled within 60 s",
    proofs: [{ test: "test/api/donation/donate-chaos.test.ts" }],
  },
  {
    number: 9,
    claim: "No wallet takes effect unreviewed, or before its hold of 72 h is over",
    asked: "10,000 random interleavings",
    proofs: [
      { test: "test/flows/wallet-in-effect.test.ts" },
      { test: "test/flows/wallet-restart.test.ts" },
    ],
  },
  {
    number: 10,
    claim: "Operators' routes need a token, and nothing of them is published",
    asked: "401 on every route; locked after 5 failures a minute; no byte in the bundle",
    proofs: [
      { test: "test/api/operator/admin-reviews.test.ts", name: "401 on every admin route" },
      { test: "test/api/operator/desk-session.test.ts" },
      { test: "test/flows/desk-bundle.test.ts" },
    ],
  },
  {
    number: 11,
    claim: "Hostile markup stays text on every page",
    asked: "500 payloads in a real browser: no dialog, no violation of the policy",
    proofs: [
      { test: "test/flows/pages-browser.test.ts" },
      { test: "test/flows/desk-browser.test.ts", name: "shows whatever was sent as text" },
      { test: "test/site/documents/hostile-text.test.ts" },
    ],
  },
  {
    number: 12,
    claim: "Unsafe characters are refused, needed ones stay, look-alikes are flagged",
    asked: "every field; one agent for each spelling of an id",
    proofs: [
      { test: "test/content/enrichment/enrichment-values.test.ts" },
      { test: "test/content/enrichment/value.test.ts" },
    ],
  },
  {
    number: 13,
    claim: "What strangers write reaches a model only as data",
    asked: "100 injections: none in a guide, in results only inside data fields",
    proofs: [
      { test: "test/flows/agents-as-readers.test.ts" },
      { test: "test/attacks/order-to-an-agent-in-data.test.ts" },
    ],
  },
  {
    number: 14,
    claim: "Submitting opens no connection",
    asked: "none, whatever addresses are sent",
    proofs: [{ test: "test/attacks/submission-reaches-out.test.ts" }],
  },
  {
    number: 15,
    claim: "Any search is answered, and soon",
    asked: "100,000 random and hostile searches: no error, none over 250 ms",
    proofs: [
      {
        bench: "search",
        args: ["--hostile", "100000"],
        quick: ["--hostile", "500", "--profiles", "2000"],
      },
      { test: "test/content/search/search.test.ts", name: "takes any text without an error" },
    ],
  },
  {
    number: 16,
    claim: "Whatever is sent is bounded and never breaks the service",
    asked: "1,000,000 fuzzed requests: no 5xx, memory growth < 50 MB; 413 or 400 for large bodies",
    proofs: [
      { test: "test/api/http/hostile.test.ts" },
      { test: "test/api/http/problems.test.ts", name: "of a body" },
      { test: "test/api/log.test.ts", name: "hostile text" },
      { test: "test/content/nonprofit/personal-data.test.ts", name: "hostile text" },
    ],
  },
  {
    number: 17,
    claim: "Limits are exact, shared by processes, and not evaded",
    asked: "exactly 30 of 100 pass; 1,000 forged headers and an IPv6 /64 are one client",
    proofs: [{ test: "test/api/http/rate-limit.test.ts" }],
  },
  {
    number: 18,
    claim: "What false agreement costs an attacker is simulated and published",
    asked: "the published figures are what the simulator computes",
    proofs: [{ test: "test/scripts/consensus-simulation.test.ts" }],
  },
  {
    number: 19,
    claim: "Slow clients delay no one, and a clock that jumps repeats nothing",
    asked: "2,000 slow sockets: others' p99 < 100 ms, closed within 15 s; jumps of 1 h",
    proofs: [
      { test: "test/flows/slow-clients.test.ts" },
      { test: "test/api/enrichment/enrich.test.ts", name: "a clock that jumps" },
      { test: "test/api/http/rate-limit.test.ts", name: "a restart of the process" },
    ],
  },
  {
    number: 20,
    claim: "Logs and caches hold nothing private, and paths lead nowhere else",
    asked: "no e-mail, address or token in 10,000 log lines; 500 traversals find nothing",
    proofs: [
      { test: "test/flows/log-privacy.test.ts" },
      { test: "test/flows/onboarding-privacy.test.ts" },
      { test: "test/api/log.test.ts" },
      { test: "test/site/delivery/bundle-server.test.ts" },
    ],
  },
];
