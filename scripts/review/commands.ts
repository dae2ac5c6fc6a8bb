import { lastDecision } from "#content/operation/audit-store.ts";
import {
  decideReview,
  findReview,
  listReviews,
  reviewQueues,
  reviewsMax,
} from "#api/operator/review.ts";
import type { Config } from "#api/config.ts";
import { revertAgent } from "#api/operator/revert.ts";
import { systemClock } from "#content/contract/time.ts";
import { ApproveBody, RevertBody, type ReviewItem, ReviewKind } from "#content/contract/review.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { configOrExit, stopWith } from "../support/config.ts";
import { startProgress } from "../support/progress.ts";

/** A person at a terminal waits longer for another writer than a request does. */
const busyWaitMs = 30_000;

/** Opens the store that the settings name for a command, and closes it afterwards. */
export async function withStore(
  work: (store: Store, config: Config) => Promise<void>,
): Promise<void> {
  const config = configOrExit();
  const { databaseUrl: url, databaseToken: authToken } = config;
  const store = await openStore({ url, authToken, busyWaitMs });
  try {
    await work(store, config);
  } finally {
    store.close();
  }
}

type Output = { json?: boolean | undefined };

/** `bun run review list`. */
export async function listed(
  args: { kind?: string | undefined; limit: string; after?: string | undefined } & Output,
) {
  const kind = args.kind === undefined ? null : ReviewKind.safeParse(args.kind).data;
  if (kind === undefined) stopWith(`--kind: give one of ${ReviewKind.options.join(", ")}.`, 2);
  const limit = Number(args.limit);
  if (!Number.isInteger(limit) || limit < 1) stopWith("--limit: give a whole number from 1.", 2);
  await withStore(async (store) => {
    const page = { kind, limit: Math.min(limit, reviewsMax), after: args.after ?? null };
    const { reviews, next } = await listReviews({ store, clock: systemClock }, page);
    if (args.json === true) {
      console.log(JSON.stringify({ count: reviews.length, reviews, next }));
      return;
    }
    for (const review of reviews) console.log(printed(review));
    if (reviews.length === 0) console.log("Nothing waits for a decision.");
    if (next !== null) console.log(`More: --after ${next}`);
  });
}

/** `bun run review queues`. */
export async function counted(args: Output) {
  await withStore(async (store) => {
    const queues = await reviewQueues({ store });
    if (args.json === true) console.log(JSON.stringify({ queues }));
    else for (const { kind, waiting } of queues) console.log(`${kind.padEnd(12)}${waiting}`);
  });
}

/** `bun run review show ID`. */
export async function shown(args: { id: string } & Output) {
  await withStore(async (store) => {
    const review = await findReview({ store, clock: systemClock }, args.id);
    if (review === null) {
      const decision = await lastDecision({ store }, args.id);
      const by =
        decision === null
          ? ""
          : ` ${decision.operator}: ${decision.action}, ${decision.happened_at}.`;
      stopWith(`${args.id}: nothing with this id waits for a decision.${by}`);
    }
    console.log(args.json === true ? JSON.stringify(review) : printed(review));
    if (args.json === true) return;
    for (const { field, before, after } of review.comparison) {
      console.log(`  ${field}: ${JSON.stringify(before)} becomes ${JSON.stringify(after)}`);
    }
    for (const { name, outcome, message } of review.checks) {
      console.log(`  ${outcome}: ${JSON.stringify(name)}: ${JSON.stringify(message)}`);
    }
    if (review.flags.length > 0) console.log(`  flags: ${JSON.stringify(review.flags)}`);
  });
}

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = ({ id, slug, created_at, summary, detail }: ReviewItem): string =>
  [
    `${id}  ${slug ?? ""}  since ${created_at}`,
    `  ${summary}`,
    ...Object.entries(detail).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
    "",
  ].join("\n");

type Decision = {
  id: string;
  value?: string | undefined;
  reason?: string | undefined;
  operator: string;
} & Output;

/** `bun run review approve` and `reject`. */
export async function decided(decision: "approved" | "rejected", args: Decision) {
  const given = { value: args.value ?? null, reason: args.reason?.trim() || null };
  if (decision === "rejected" && given.reason === null) {
    stopWith("--reason: say why; the agents see it.", 2);
  }
  const read = ApproveBody.safeParse(given);
  if (!read.success)
    stopWith(`--${read.error.issues[0]?.path.join(".")}: ${read.error.issues[0]?.message}.`, 2);
  await withStore(async (store, config) => {
    const outcome = await decideReview(
      { store, clock: systemClock, config },
      { id: args.id, decision, operator: args.operator, ...given },
    );
    if (args.json === true) console.log(JSON.stringify(outcome));
    else if (outcome.ok) console.log(`${outcome.value.id}: ${outcome.value.message}`);
    else console.error(`${args.id}: ${explained(outcome.failure)}`);
    if (!outcome.ok) process.exitCode = 1;
  });
}

const explained = (failure: { kind: string; message?: string; field?: string; status?: string }) =>
  failure.message ??
  {
    review_not_found: "nothing with this id waits for a decision (bun run review list).",
    review_decided: `this was decided before: ${failure.status ?? ""}.`,
    field_has_value: `the profile holds a ${failure.field ?? "value"} by now; reject this one.`,
  }[failure.kind] ??
  failure.kind;

/** `bun run review revert --agent ID`. */
export async function reverted(
  args: { agent?: string | undefined; reason: string; operator: string } & Output,
) {
  const agent = args.agent?.trim() ?? "";
  if (agent === "") stopWith("--agent: give the id of the agent to revert.", 2);
  const read = RevertBody.safeParse({ agent_id: agent, reason: args.reason });
  if (!read.success) stopWith("--reason: say why, in at most 500 characters.", 2);
  await withStore(async (store) => {
    const progress = startProgress("Reverting", 0);
    const { operator, reason } = args;
    const done = await revertAgent(
      { store, clock: systemClock },
      { agent, operator, reason },
      (count) => progress.at(count),
    );
    progress.end();
    if (args.json === true) console.log(JSON.stringify(done));
    else {
      console.log(
        `${done.agent_id}: ${done.submissions} submissions reverted, ${done.emptied} fields emptied, ${done.recommendations} recommendations taken back.`,
      );
    }
    if (done.submissions + done.recommendations === 0) process.exitCode = 1;
  });
}
