import { daysMax } from "#api/operator/health.ts";
import { RevokeAnswer } from "#content/contract/onboarding.ts";
import { AuditLog, DailyNumbers, OperatorHealth } from "#content/contract/operator.ts";
import {
  ApproveBody,
  Reverted,
  ReviewDecision,
  ReviewItem,
  ReviewKind,
  ReviewList,
  ReviewQueues,
} from "#content/contract/review.ts";
import { stopWith } from "#scripts/support/config.ts";
import {
  defaultOperator,
  limitOf,
  type OperatorAnswer,
  type Output,
  pageNumberOf,
  showOutcome,
  valueOf,
  withOperatorApi,
} from "#scripts/support/operator-api.ts";
import { startProgress } from "#scripts/support/progress.ts";

/** `bun run review list`. */
export async function listReviews(
  args: { kind?: string | undefined; limit: string; after?: string | undefined } & Output,
) {
  if (args.kind !== undefined && !ReviewKind.safeParse(args.kind).success) {
    stopWith(`--kind: give one of ${ReviewKind.options.join(", ")}.`, 2);
  }
  const query = { kind: args.kind, limit: limitOf(args.limit), after: args.after };
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const list = valueOf(await call({ path: "/api/admin/reviews", query }, ReviewList));
    if (args.json === true) {
      console.log(JSON.stringify(list));
      return;
    }
    for (const review of list.reviews) console.log(printed(review));
    if (list.count === 0) console.log("Nothing waits for a decision.");
    if (list.next !== null) console.log(`More: --after ${list.next}`);
  });
}

/** `bun run review queues`. */
export async function countReviews(args: Output) {
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const { queues } = valueOf(await call({ path: "/api/admin/queues" }, ReviewQueues));
    if (args.json === true) console.log(JSON.stringify({ queues }));
    else for (const { kind, waiting } of queues) console.log(`${kind.padEnd(12)}${waiting}`);
  });
}

/** `bun run review show ID`. */
export async function showReview(args: { id: string } & Output) {
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const path = `/api/admin/reviews/${encodeURIComponent(args.id)}`;
    const found = await call({ path }, ReviewItem);
    if (!found.ok) {
      const query = { subject: args.id, limit: 1 };
      const log = valueOf(await call({ path: "/api/admin/audit", query }, AuditLog));
      const [last] = log.entries;
      const by =
        last === undefined ? "" : ` ${last.operator}: ${last.action}, ${last.happened_at}.`;
      stopWith(`${args.id}: nothing with this id waits for a decision.${by}`);
    }
    const review = found.value;
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
export async function decideReview(decision: "approve" | "reject", args: Decision) {
  const given = { value: args.value ?? null, reason: args.reason?.trim() || null };
  if (decision === "reject" && given.reason === null) {
    stopWith("--reason: say why; the agents see it.", 2);
  }
  const read = ApproveBody.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    stopWith(`--${issue?.path.join(".")}: ${issue?.message}.`, 2);
  }
  const body = decision === "approve" ? given : { reason: given.reason };
  await withOperatorApi(args.operator, async ({ call }) => {
    const path = `/api/admin/reviews/${encodeURIComponent(args.id)}/${decision}`;
    const outcome = await call({ method: "POST", path, body }, ReviewDecision);
    showOutcome(args, args.id, outcome, ({ id, message }) => `${id}: ${message}`);
  });
}

/** `bun run review revert --agent ID`. */
export async function revertAgent(
  args: { agent?: string | undefined; reason: string; operator: string } & Output,
) {
  const agent = args.agent?.trim() ?? "";
  if (agent === "") stopWith("--agent: give the id of the agent to revert.", 2);
  await withOperatorApi(args.operator, async ({ call }) => {
    const body = { agent_id: agent, reason: args.reason };
    const path = "/api/admin/agents/revert";
    const progress = startProgress("Reverting", 0);
    let total: Reverted | null = null;
    // One request undoes a part: the service goes on answering others meanwhile.
    while (total?.complete !== true) {
      const part: OperatorAnswer<Reverted> = await call({ method: "POST", path, body }, Reverted);
      if (!part.ok && part.failure.kind === "invalid_review") {
        stopWith("--reason: say why, in at most 500 characters.", 2);
      }
      total = sumOf(total, valueOf(part));
      progress.at(total.submissions);
    }
    progress.end();
    if (args.json === true) console.log(JSON.stringify(total));
    else {
      console.log(
        `${total.agent_id}: ${total.submissions} submissions reverted, ${total.emptied} fields emptied, ${total.recommendations} recommendations removed.`,
      );
    }
    if (total.submissions + total.recommendations === 0) process.exitCode = 1;
  });
}

const sumOf = (done: Reverted | null, part: Reverted): Reverted => ({
  ...part,
  submissions: part.submissions + (done?.submissions ?? 0),
  emptied: part.emptied + (done?.emptied ?? 0),
  recommendations: part.recommendations + (done?.recommendations ?? 0),
});

/** `bun run review revoke --slug SLUG --reason WHY`. */
export async function revokeVerification(
  args: {
    slug?: string | undefined;
    reason?: string | undefined;
    values?: boolean | undefined;
    operator: string;
  } & Output,
) {
  const slug = args.slug?.trim() ?? "";
  const reason = args.reason?.trim() ?? "";
  if (slug === "") stopWith("--slug: give the slug of the profile.", 2);
  if (reason === "") stopWith("--reason: say why, for the audit log.", 2);
  await withOperatorApi(args.operator, async ({ call }) => {
    const path = `/api/admin/nonprofits/${encodeURIComponent(slug)}/revoke`;
    const body = { reason, take_back_values: args.values === true };
    const outcome = await call({ method: "POST", path, body }, RevokeAnswer);
    showOutcome(args, slug, outcome, ({ taken_back, stopped_hold }) => {
      const fields = taken_back.length === 0 ? "nothing" : taken_back.join(", ");
      const hold = stopped_hold ? "\nThe held change of its wallet is stopped." : "";
      return `${slug} is a listing again. Taken back: ${fields}.${hold}`;
    });
  });
}

/** `bun run review log`. */
export async function showLog(
  args: {
    operator?: string | undefined;
    action?: string | undefined;
    subject?: string | undefined;
    before?: string | undefined;
    limit: string;
  } & Output,
) {
  const { operator, action, subject } = args;
  const page = { limit: limitOf(args.limit), before: pageNumberOf(args.before) };
  const query = { operator, action, subject, ...page };
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const log = valueOf(await call({ path: "/api/admin/audit", query }, AuditLog));
    if (args.json === true) {
      console.log(JSON.stringify(log));
      return;
    }
    for (const entry of log.entries) {
      // Subjects and details may hold what others wrote: escaped, so that it cannot play with the terminal.
      const what = `${entry.action}  ${JSON.stringify(entry.subject)}  ${JSON.stringify(entry.detail)}`;
      console.log(`${entry.happened_at}  ${entry.operator}  ${what}`);
    }
    if (log.count === 0) console.log("The log is empty.");
    if (log.next !== null) console.log(`More: --before ${log.next}`);
  });
}

/** `bun run review health`: without a running service nothing is known of the chain. */
export async function showHealth(args: Output) {
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const answer = await call({ path: "/api/admin/health" }, OperatorHealth);
    const { warnings, at, ...health } = valueOf(answer);
    if (args.json === true) console.log(JSON.stringify({ at, warnings, ...health }));
    else {
      for (const [name, value] of Object.entries(health)) {
        const shown = value === null ? "not known here" : JSON.stringify(value);
        console.log(`${name.padEnd(14)}${shown}`);
      }
      for (const warning of warnings) console.log(`! ${warning}`);
    }
    if (warnings.length > 0) process.exitCode = 1;
  });
}

/** `bun run review numbers`. */
export async function showNumbers(args: { days: string } & Output) {
  const days = Number(args.days);
  if (!Number.isInteger(days) || days < 1 || days > daysMax) {
    stopWith(`--days: give a whole number from 1 to ${daysMax}.`, 2);
  }
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const query = { days };
    const numbers = valueOf(await call({ path: "/api/admin/numbers", query }, DailyNumbers));
    if (args.json === true) {
      console.log(JSON.stringify(numbers));
      return;
    }
    for (const [name, values] of Object.entries(numbers)) {
      const shown = values.map((value) => String(value).padStart(10)).join(" ");
      console.log(`${name.padEnd(18)}${shown}`);
    }
  });
}
