import { statSync } from "node:fs";
import { LRUCache } from "lru-cache";
import { Counter, Gauge, Registry } from "prom-client";
import { filePathOf } from "#content/store/embedded-client.ts";
import type { OperatorHealth } from "#content/contract/operator.ts";
import { type Counted, countDurations, durationBuckets } from "#content/runtime/durations.ts";
import { operatorHealth } from "./health.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { OperatorContext } from "./operators.ts";
import type { Readiness, Unready } from "./probes.ts";
import { reviewQueues } from "./review-queues.ts";

/** What is known when metrics are read. What could not be asked is null, and its metrics are left out. */
type Facts = {
  health: OperatorHealth | null;
  queues: readonly { kind: string; waiting: number }[];
  unready: readonly Unready[];
  seenAtMs: number | null;
  publisherBytes: number | null;
  walBytes: number | null;
  residentBytes: number;
};

/** One number, or one for each value of a label; null or undefined: not known, and left out. */
type Value = number | boolean | null | undefined | Readonly<Record<string, number>>;

type Metric = readonly [name: string, help: string, value: (facts: Facts) => Value, label?: string];

/** Every gauge. The dashboard and the alerts in scripts/monitoring name nothing else, which a test holds. */
const gauges: readonly Metric[] = [
  ["almoner_unready", "1 for a part that does not work, as /readyz says", unreadyParts, "part"],
  ["almoner_release", "Number of the published release", (f) => f.health?.publication?.release],
  ["almoner_publishing_held", "1: a rollback holds publishing", (f) => f.health?.publication?.held],
  [
    "almoner_profiles_behind",
    "Changes that published profiles do not show yet",
    (f) => f.health?.publication?.profiles_behind,
  ],
  [
    "almoner_lists_behind",
    "Changes that published lists do not show yet",
    (f) => f.health?.publication?.lists_behind,
  ],
  [
    "almoner_publication_lag_seconds",
    "How long the oldest change has waited to be published; 0: none waits",
    ({ health }) => health?.publication && (health.publication.oldest_waiting_s ?? 0),
  ],
  [
    "almoner_publisher_seen_timestamp_seconds",
    "When the publisher last gave a sign of life; 0: it does not run",
    ({ seenAtMs }) => seenAtMs && seenAtMs / 1_000,
  ],
  [
    "almoner_publisher_resident_memory_bytes",
    "Memory of the publisher's process; absent: it does not run, or the system does not tell",
    (f) => f.publisherBytes,
  ],
  [
    "almoner_render_failures",
    "Pages that could not be rendered",
    (f) => f.health?.publication?.failures,
  ],
  ["almoner_newest_change", "Number of the newest change", (f) => f.health?.store.newest_change],
  ["almoner_store_bytes", "Size of the store", (f) => f.health?.store.bytes],
  ["almoner_store_wal_bytes", "Size of the store's write-ahead log", (f) => f.walBytes],
  [
    "almoner_disk_free_bytes",
    "Free space on the disk of the data folder",
    (f) => f.health?.store.free_bytes,
  ],
  [
    "almoner_backup_age_seconds",
    "Age of the newest backup; absent: none is known",
    (f) => f.health?.backup?.age_s,
  ],
  ["almoner_queue_waiting", "Reviews that wait for an operator", waitingIn, "queue"],
  ["almoner_webhooks_pending", "Webhooks to be sent", (f) => f.health?.webhooks.pending],
  ["almoner_webhooks_failed", "Webhooks that were given up", (f) => f.health?.webhooks.failed],
  [
    "almoner_webhook_lag_seconds",
    "How long the oldest webhook has waited",
    ({ health }) => health && (health.webhooks.oldest_pending_s ?? 0),
  ],
  ["almoner_rpc_up", "1: the chain answered a question", (f) => f.health?.chain?.answers],
  [
    "almoner_rpc_latency_seconds",
    "How long it took to answer",
    ({ health }) => health?.chain && health.chain.took_ms / 1_000,
  ],
  [
    "almoner_rpc_disagreements",
    "How often nodes contradicted each other in 24 hours",
    (f) => f.health?.chain?.disagreements,
  ],
  [
    "almoner_sponsor_balance_lamports",
    "What the sponsor of network fees has",
    (f) => f.health?.sponsor?.balance_lamports,
  ],
  [
    "almoner_sponsor_spent_lamports",
    "What it spent in 24 hours",
    (f) => f.health?.sponsor?.spent_lamports,
  ],
  [
    "almoner_sponsor_runway_days",
    "How long its balance lasts at the pace of the last week",
    (f) => f.health?.sponsor?.runway_days,
  ],
  [
    "almoner_donations_voided",
    "Recorded gifts that vanished from the chain in 30 days",
    (f) => f.health?.donations.voided,
  ],
  [
    "almoner_failed_sign_ins",
    "Failed sign-ins of operators in 24 hours",
    (f) => f.health?.access.failed_sign_ins,
  ],
  [
    "almoner_register_fetches_failed",
    "Registers whose newest fetch failed",
    (f) => f.health?.registers.filter(({ problem }) => problem !== null).length,
  ],
  [
    "process_resident_memory_bytes",
    "Memory of the service's process",
    ({ residentBytes }) => residentBytes,
  ],
  [
    "process_cpu_seconds_total",
    "Processor time of the service's process",
    () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  ],
  [
    "process_start_time_seconds",
    "When the process was started",
    () => (Date.now() - performance.now()) / 1_000,
  ],
];

function unreadyParts({ unready }: Facts): Value {
  const parts = ["store", "chain", "publisher"] as const;
  return Object.fromEntries(
    parts.map((part) => [part, unready.some((one) => one.part === part) ? 1 : 0]),
  );
}

function waitingIn({ queues }: Facts): Value {
  return Object.fromEntries(queues.map(({ kind, waiting }) => [kind, waiting]));
}

/** Shows what is known when it is read, and nothing of what is not. */
const gaugeOf = ([name, help, read, label]: Metric, known: () => Facts | null): Gauge =>
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [],
    collect() {
      const facts = known();
      const value = facts === null ? null : read(facts);
      this.reset();
      if (typeof value === "object" && value !== null) {
        for (const [of, number] of Object.entries(value)) this.set({ [label ?? ""]: of }, number);
      } else if (value !== null && value !== undefined) this.set(Number(value));
      // Without a label it would be 0.
      else if (label === undefined) this.remove();
    },
  });

/** Written as a histogram, though its numbers are given like those of a gauge. */
class Histogram extends Gauge {
  readonly type = "histogram";
  readonly #name: string;
  readonly #counted: () => Counted[];

  constructor(name: string, help: string, counted: () => Counted[]) {
    super({ name, help, registers: [] });
    this.#name = name;
    this.#counted = counted;
  }

  override async get() {
    const values = this.#counted().flatMap((one) => valuesOf(this.#name, one));
    return { ...(await super.get()), values };
  }
}

function valuesOf(name: string, { labels, counts, sum }: Counted) {
  let below = 0;
  const buckets = counts.map((count, at) => {
    below += count;
    const le = durationBuckets[at] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: below },
  ];
}

/** Asking the store and the chain takes longer than reading metrics may: what is read is at most about this old. */
const factsForMs = 15_000;
const factsWaitMs = 1_000;

/** Metrics of this process and of the directory, in the text format of Prometheus. */
export function openMetrics(context: OperatorContext, readiness: Readiness) {
  const registry = new Registry();
  const registers = [registry];
  const requests = countDurations();
  const histograms: [string, string, () => Counted[]][] = [
    [
      "almoner_request_duration_seconds",
      "Requests by method, route and status; files of the bundle are the route `file`",
      requests.all,
    ],
    [
      "almoner_rpc_duration_seconds",
      "Questions to nodes of the chain by node, method and outcome: clear, unclear, or given up because others had answered",
      () => context.chain?.durations() ?? [],
    ],
  ];
  for (const histogram of histograms) registry.registerMetric(new Histogram(...histogram));
  const limited = new Counter({
    name: "almoner_limited_total",
    help: "Requests refused by a limit",
    labelNames: ["limit"],
    registers,
  });
  let known: Facts | null = null;
  for (const metric of gauges) registry.registerMetric(gaugeOf(metric, () => known));
  const facts = new LRUCache<"all", Facts>({
    max: 1,
    ttl: factsForMs,
    allowStale: true,
    fetchMethod: () => readFacts(context, readiness),
  });
  return {
    request: (method: string, route: string, status: number, durationMs: number): void =>
      requests.count({ method, route, status: String(status) }, durationMs / 1_000),
    limited: (limit: string): void => limited.inc({ limit }),
    contentType: registry.contentType,
    text: async (): Promise<string> => {
      // The first is not kept waiting for a chain that is away: it has the counters alone.
      known = (await within(facts.forceFetch("all"), factsWaitMs)) ?? known;
      return registry.metrics();
    },
  };
}

async function readFacts(context: OperatorContext, readiness: Readiness): Promise<Facts> {
  const [unready, health, queues] = await Promise.all([
    readiness(),
    operatorHealth(context).catch(() => null),
    reviewQueues(context).catch(() => []),
  ]);
  const { databaseUrl } = context.config;
  const publication = context.publication?.();
  return {
    health,
    queues,
    unready,
    seenAtMs: publication?.seenAtMs ?? null,
    publisherBytes: publication?.seenAtMs ? await residentBytesOf(publication.pid) : null,
    walBytes: context.store.embedded ? sizeOf(`${filePathOf(databaseUrl)}-wal`) : null,
    residentBytes: process.memoryUsage.rss(),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Of another process, where the system tells as Linux does. */
async function residentBytesOf(pid: number): Promise<number | null> {
  const status = await Bun.file(`/proc/${pid}/status`)
    .text()
    .catch(() => "");
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kb === undefined ? null : Number(kb) * 1_024;
}
