import { statSync } from "node:fs";
import { sharedLook } from "#content/runtime/cache.ts";
import { Counter, Gauge, Registry } from "prom-client";
import { filePathOf } from "#content/store/embedded-client.ts";
import helps from "#content/editorial/metrics.json";
import {
  type GaugeName,
  gauges as gaugesOfChecks,
  type GaugeValue,
} from "#content/operation/checks.ts";
import {
  type DurationCounts,
  countDurations,
  durationBuckets,
  withTimeout,
} from "#content/runtime/timing.ts";
import { operatorHealth } from "./health.ts";
import type { OperatorContext } from "./operators.ts";
import type { Readiness } from "./probes.ts";
import { reviewQueues } from "#api/operator/requests.ts";

/** The facts known when metrics are read. Facts that could not be read are absent, and so are their metrics. */
type ReadFacts = Awaited<ReturnType<typeof readFacts>>;

/** Every gauge, those of the checks first. A test holds dashboard and alerts (scripts/monitoring) to these names. */
const gauges: Readonly<Partial<Record<GaugeName, (facts: ReadFacts) => GaugeValue>>> = {
  ...gaugesOfChecks,
  almoner_unready: ({ unready }) =>
    Object.fromEntries(
      (["store", "chain", "publisher"] as const).map((part) => [
        part,
        unready.some((reason) => reason.part === part) ? 1 : 0,
      ]),
    ),
  process_resident_memory_bytes: ({ resident_bytes }) => resident_bytes,
  process_cpu_seconds_total: () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  process_start_time_seconds: () => (Date.now() - performance.now()) / 1_000,
};

/** The label that distinguishes the values of a gauge with several. */
const labelOf: Readonly<Partial<Record<string, string>>> = {
  almoner_unready: "part",
  almoner_queue_waiting: "queue",
};

/** A gauge that shows the latest facts, and no value when a fact is unknown. */
function gaugeOf(name: GaugeName, latest: () => ReadFacts | null): Gauge {
  const label = labelOf[name];
  const gauge = new Gauge({
    name,
    help: helps[name],
    labelNames: label === undefined ? [] : [label],
    registers: [],
    collect() {
      const facts = latest();
      const value = facts === null ? null : gauges[name]?.(facts);
      this.reset();
      if (typeof value === "object" && value !== null) {
        for (const [of, number] of Object.entries(value)) this.set({ [label ?? ""]: of }, number);
      } else if (value !== null && value !== undefined) this.set(Number(value));
      // Without a label, a reset gauge would show 0.
      else if (label === undefined) this.remove();
    },
  });
  // Prometheus counts by the name what only grows.
  return Object.assign(gauge, name.endsWith("_total") && { type: "counter" });
}

/** A histogram in the output, although its values are supplied like those of a gauge. */
class Histogram extends Gauge {
  readonly type = "histogram";
  readonly #name: string;
  readonly #counted: () => DurationCounts[];

  constructor(name: string, help: string, counted: () => DurationCounts[]) {
    super({ name, help, registers: [] });
    this.#name = name;
    this.#counted = counted;
  }

  override async get() {
    const values = this.#counted().flatMap((histogram) => valuesOf(this.#name, histogram));
    return { ...(await super.get()), values };
  }
}

function valuesOf(name: string, { labels, counts, sum }: DurationCounts) {
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

/** Facts may be about this old, because asking the store and the chain takes longer than a scrape may. */
const factsForMs = 15_000;
const factsWaitMs = 1_000;

/** Metrics of this process and of the directory, in the text format of Prometheus. */
export function openMetrics(context: OperatorContext, readiness: Readiness) {
  const registry = new Registry();
  const registers = [registry];
  const requests = countDurations();
  const histograms: [string, string, () => DurationCounts[]][] = [
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
  const limitedRequests = new Counter({
    name: "almoner_limited_total",
    help: "Requests refused by a limit",
    labelNames: ["limit"],
    registers,
  });
  let latest: ReadFacts | null = null;
  for (const name of Object.keys(helps) as GaugeName[])
    registry.registerMetric(gaugeOf(name, () => latest));
  const facts = sharedLook(factsForMs, () => readFacts(context, readiness), { allowStale: true });
  return {
    request: (method: string, route: string, status: number, durationMs: number): void =>
      requests.count({ method, route, status: String(status) }, durationMs / 1_000),
    limited: (limit: string): void => limitedRequests.inc({ limit }),
    contentType: registry.contentType,
    text: async (): Promise<string> => {
      // The first scrape does not wait for a chain that is away; it then has only the counters.
      latest = (await withTimeout(facts(), factsWaitMs)) ?? latest;
      return registry.metrics();
    },
  };
}

async function readFacts(context: OperatorContext, readiness: Readiness) {
  const [unready, health, queues] = await Promise.all([
    readiness(),
    operatorHealth(context).catch(() => ({})),
    reviewQueues(context).catch(() => []),
  ]);
  const { databaseUrl } = context.config;
  const publication = context.publication?.();
  const silentMs = publication?.silentMs ?? null;
  return {
    ...health,
    queues,
    unready,
    publisher_seen_ms: silentMs === null ? null : Date.now() - silentMs,
    publisher_bytes: publication?.silentMs == null ? null : await residentBytesOf(publication.pid),
    wal_bytes: context.store.embedded ? sizeOf(`${filePathOf(databaseUrl)}-wal`) : null,
    resident_bytes: process.memoryUsage.rss(),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Resident memory of another process, on Linux; null elsewhere. */
async function residentBytesOf(pid: number): Promise<number | null> {
  const status = await Bun.file(`/proc/${pid}/status`)
    .text()
    .catch(() => "");
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kb === undefined ? null : Number(kb) * 1_024;
}
