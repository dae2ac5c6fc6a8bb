import { statSync } from "node:fs";
import { LRUCache } from "lru-cache";
import { Counter, Gauge, Registry } from "prom-client";
import { filePathOf } from "#content/store/embedded-client.ts";
import type { OperatorHealth } from "#content/contract/operator.ts";
import { operatorHealth } from "./health.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { OperatorContext } from "./operators.ts";
import type { openReadiness, Unready } from "./readiness.ts";
import { reviewQueues } from "./review-queues.ts";

/** What is known when metrics are read. What could not be asked is null, and its metrics are left out. */
type Facts = {
  health: OperatorHealth | null;
  queues: readonly { kind: string; waiting: number }[];
  unready: readonly Unready[];
  seenAtMs: number | null;
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
class FactGauge extends Gauge {
  readonly #values: () => { labels: Record<string, string>; value: number }[];

  constructor([name, help, read, label]: Metric, known: () => Facts | null) {
    super({ name, help, labelNames: label === undefined ? [] : [label], registers: [] });
    this.#values = () => {
      const facts = known();
      const value = facts === null ? null : read(facts);
      if (value === null || value === undefined) return [];
      if (label === undefined || typeof value !== "object") {
        return [{ labels: {}, value: Number(value) }];
      }
      return Object.entries(value).map(([of, number]) => ({
        labels: { [label]: of },
        value: number,
      }));
    };
  }

  override async get() {
    return { ...(await super.get()), values: this.#values() };
  }
}

/** Buckets of a request's duration, in seconds. */
const durationBuckets = [0.001, 0.005, 0.02, 0.1, 0.3, 1, 3, 10];
const requestLabels = ["method", "route", "status"] as const;

type Durations = {
  labels: Record<(typeof requestLabels)[number], string>;
  counts: number[];
  sum: number;
};

/**
 * How long requests took: a histogram, counted in arrays of our own and handed over when it is read. prom-client's own
 * counting costs as much as a tenth of serving a file.
 */
class RequestDurations extends Gauge<(typeof requestLabels)[number] | "le"> {
  readonly #known = new Map<string, Durations>();
  /** Written as a histogram, though its numbers are given like those of a gauge. */
  readonly type = "histogram";

  count(method: string, route: string, status: number, seconds: number): void {
    const key = `${status} ${method} ${route}`;
    let durations = this.#known.get(key);
    if (durations === undefined) {
      const counts = Array.from({ length: durationBuckets.length + 1 }, () => 0);
      durations = { labels: { method, route, status: String(status) }, counts, sum: 0 };
      this.#known.set(key, durations);
    }
    let at = 0;
    while (seconds > (durationBuckets[at] ?? Infinity)) at++;
    durations.counts[at] = (durations.counts[at] ?? 0) + 1;
    durations.sum += seconds;
  }

  override async get() {
    const described = await super.get();
    return { ...described, values: [...this.#known.values()].flatMap(valuesOf) };
  }
}

function valuesOf({ labels, counts, sum }: Durations) {
  const name = "almoner_request_duration_seconds";
  let below = 0;
  const buckets = counts.map((count, at) => {
    below += count;
    const le = durationBuckets[at] ?? "+Inf";
    return {
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value: below,
      exemplar: null,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: below },
  ];
}

export type Metrics = ReturnType<typeof openMetrics>;

/** Asking the store and the chain takes longer than reading metrics may: what is read is at most about this old. */
const factsForMs = 15_000;
const factsWaitMs = 1_000;

/** Metrics of this process and of the directory, in the text format of Prometheus. */
export function openMetrics(context: OperatorContext, readiness: ReturnType<typeof openReadiness>) {
  const registry = new Registry();
  const registers = [registry];
  const requests = new RequestDurations({
    name: "almoner_request_duration_seconds",
    help: "Requests by method, route and status; files of the bundle are the route `file`",
    labelNames: [...requestLabels, "le"],
    registers,
  });
  const limited = new Counter({
    name: "almoner_limited_total",
    help: "Requests refused by a limit",
    labelNames: ["limit"],
    registers,
  });
  let known: Facts | null = null;
  for (const metric of gauges) registry.registerMetric(new FactGauge(metric, () => known));
  const facts = new LRUCache<"all", Facts>({
    max: 1,
    ttl: factsForMs,
    allowStale: true,
    fetchMethod: () => readFacts(context, readiness),
  });
  return {
    request: (method: string, route: string, status: number, durationMs: number): void =>
      requests.count(method, route, status, durationMs / 1_000),
    limited: (limit: string): void => limited.inc({ limit }),
    contentType: registry.contentType,
    text: async (): Promise<string> => {
      // The first is not kept waiting for a chain that is away: it has the counters alone.
      known = (await within(facts.forceFetch("all"), factsWaitMs)) ?? known;
      return registry.metrics();
    },
  };
}

async function readFacts(
  context: OperatorContext,
  readiness: ReturnType<typeof openReadiness>,
): Promise<Facts> {
  const [unready, health, queues] = await Promise.all([
    readiness(),
    operatorHealth(context).catch(() => null),
    reviewQueues(context).catch(() => []),
  ]);
  const { databaseUrl } = context.config;
  return {
    health,
    queues,
    unready,
    seenAtMs: context.publication?.().seenAtMs ?? null,
    walBytes: context.store.embedded ? sizeOf(`${filePathOf(databaseUrl)}-wal`) : null,
    residentBytes: process.memoryUsage.rss(),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
