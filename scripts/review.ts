import { defineCommand } from "citty";
import { verificationOperations } from "#content/contract/operations/onboarding.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import { type AuditEntry, daysLimit, type OperatorHealth } from "#content/contract/operator.ts";
import {
  ApproveBody,
  type Reverted,
  type ReviewItem,
  ReviewKind,
} from "#content/contract/review.ts";
import { audit } from "./review/audit.ts";
import { agents } from "./review/agents.ts";
import { pick } from "./review/picks.ts";
import { profile } from "./review/profiles.ts";
import { runCommand } from "./support/command.ts";
import { stopWith } from "./support/config.ts";
import {
  change,
  defaultOperator,
  json,
  limitOf,
  neededOption,
  numberOption,
  operator,
  pageLimit,
  pageLines,
  pageNumberOf,
  place,
  print,
  show,
  valueOf,
  withOperatorApi,
} from "./support/operator-api.ts";
import { startProgress } from "./support/progress.ts";

const id = {
  type: "positional",
  required: true,
  description: "Id of the review, as list shows it; approve and reject take several",
} as const;

const list = defineCommand({
  meta: { name: "list", description: "Shows what waits for a decision, the oldest first" },
  args: {
    kind: {
      type: "string",
      description: "Only one kind: onboarding, prose, draft, contested, revert, hold or correction",
    },
    limit: pageLimit,
    after: place,
    json,
  },
  run: async ({ args }) => {
    const { kind, after } = args;
    if (kind !== undefined && !ReviewKind.safeParse(kind).success) {
      stopWith(`--kind: give one of ${ReviewKind.options.join(", ")}.`, 2);
    }
    const query = { kind, limit: limitOf(args.limit), after };
    await show(args, operations.listReviews, { query }, ({ reviews, next }) =>
      pageLines(reviews.map(printed), "Nothing waits for a decision.", ["--after", next]),
    );
  },
});

const queues = defineCommand({
  meta: { name: "queues", description: "Counts what waits, by kind" },
  args: { json },
  run: async ({ args }) => {
    await show(args, operations.countReviews, {}, (counted) =>
      counted.queues.map(({ kind, waiting }) => `${kind.padEnd(12)}${waiting}`),
    );
  },
});

const showOne = defineCommand({
  meta: { name: "show", description: "Shows one thing that waits, or who decided it" },
  args: { id, json },
  run: ({ args }) =>
    withOperatorApi(defaultOperator, async (call) => {
      const found = await call(operations.getReview, { params: { id: args.id } });
      if (!found.ok) {
        const query = { subject: args.id, limit: 1 };
        const [last] = valueOf(await call(operations.readAuditLog, { query })).entries;
        const by =
          last === undefined ? "" : ` ${last.operator}: ${last.action}, ${last.happened_at}.`;
        stopWith(`${args.id}: nothing with this id waits for a decision.${by}`);
      }
      print(args, found.value, allLines);
    }),
});

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = ({ id: name, slug, created_at, summary, detail }: ReviewItem): string =>
  [
    `${name}  ${slug ?? ""}  since ${created_at}`,
    `  ${summary}`,
    ...Object.entries(detail).map(([member, value]) => `  ${member}: ${JSON.stringify(value)}`),
    "",
  ].join("\n");

const allLines = (review: ReviewItem): string[] => [
  printed(review),
  ...review.comparison.map(
    ({ field, before, after }) =>
      `  ${field}: ${JSON.stringify(before)} becomes ${JSON.stringify(after)}`,
  ),
  ...review.checks.map(
    ({ name, outcome, message }) =>
      `  ${outcome}: ${JSON.stringify(name)}: ${JSON.stringify(message)}`,
  ),
  ...(review.flags.length === 0 ? [] : [`  flags: ${JSON.stringify(review.flags)}`]),
];

const approve = defineCommand({
  meta: {
    name: "approve",
    description:
      "Accepts one: prose goes live, a contested or wrong field is set, a draft is recommended",
  },
  args: {
    id,
    value: {
      type: "string",
      description:
        "Edited prose, the right value of a contested or wrong field, or a draft's sentences (or both its members as JSON)",
    },
    reason: { type: "string", description: "Why, for the audit log" },
    operator,
    json,
  },
  run: async ({ args }) => {
    const body = usable({ value: args.value ?? null, reason: args.reason?.trim() || null });
    if (args._.length > 1) {
      if (body.value != null) stopWith("--value: a value is for one review.", 2);
      return decideMany(args, "approved", body.reason);
    }
    const asked = { params: { id: args.id }, body };
    await change(args, args.id, operations.approveReview, asked, sentence);
  },
});

const reject = defineCommand({
  meta: { name: "reject", description: "Rejects one; the sender sees the reason" },
  args: { id, reason: { type: "string", description: "Why (required)" }, operator, json },
  run: async ({ args }) => {
    const reason = neededOption("reason", args.reason, "say why; the agents see it.");
    if (args._.length > 1) return decideMany(args, "rejected", usable({ reason }).reason);
    const asked = { params: { id: args.id }, body: usable({ reason }) };
    await change(args, args.id, operations.rejectReview, asked, sentence);
  },
});

/** Decides all that are named, and says what became of each; exit code 1 when one could not be decided. */
async function decideMany(
  args: { _: string[]; operator: string; json?: boolean | undefined },
  decision: "approved" | "rejected",
  reason: string | null,
): Promise<void> {
  const body = { ids: args._, decision, reason };
  const decided = await show(args, operations.decideReviews, { body }, ({ done, results }) => [
    ...results.map(({ id: name, message }) => `${name}: ${message}`),
    `${done} of ${results.length} ${decision}.`,
  ]);
  if (decided.done < decided.results.length) process.exitCode = 1;
}

const sentence = ({ id: name, message }: { id: string; message: string }) => `${name}: ${message}`;

/** A decision whose parts are not too long; else the process ends and says which one is. */
function usable(body: { value?: string | null; reason: string | null }) {
  const read = ApproveBody.safeParse(body);
  if (read.success) return body;
  const [issue] = read.error.issues;
  return stopWith(`--${issue?.path.join(".")}: ${issue?.message}.`, 2);
}

const check = defineCommand({
  meta: {
    name: "check",
    description: "Looks whether the sender of a request controls the organisation's host",
  },
  args: { id, operator, json },
  run: async ({ args }) => {
    const asked = { params: { id: args.id } };
    await change(
      args,
      args.id,
      verificationOperations.checkHostControl,
      asked,
      ({ message }) => `${args.id}: ${message}`,
    );
  },
});

const log = defineCommand({
  meta: { name: "log", description: "Shows what operators did, the newest first" },
  args: {
    operator: { type: "string", description: "Only what this operator did" },
    action: { type: "string", description: "Only this action, for example review.rejected" },
    subject: { type: "string", description: "Only what was done to this, for example prose-12" },
    before: place,
    limit: pageLimit,
    json,
  },
  run: async ({ args }) => {
    const { operator: by, action, subject } = args;
    const page = { limit: limitOf(args.limit), before: pageNumberOf(args.before) };
    const query = { operator: by, action, subject, ...page };
    await show(args, operations.readAuditLog, { query }, ({ entries, next }) =>
      pageLines(entries.map(lineOf), "The log is empty.", ["--before", next]),
    );
  },
});

/** Subjects and details may hold what others wrote: escaped, so that it cannot play with the terminal. */
const lineOf = ({ happened_at, operator: by, action, subject, detail }: AuditEntry): string =>
  `${happened_at}  ${by}  ${action}  ${JSON.stringify(subject)}  ${JSON.stringify(detail)}`;

const health = defineCommand({
  meta: {
    name: "health",
    description: "Shows the health of the directory; exit code 1 when something needs attention",
  },
  args: { json },
  run: async ({ args }) => {
    const linesOf = (found: OperatorHealth): string[] => [
      ...healthNames.map(
        (name) =>
          `${name.padEnd(14)}${found[name] === null ? "not known here" : JSON.stringify(found[name])}`,
      ),
      ...found.warnings.map((warning) => `! ${warning}`),
    ];
    const { warnings } = await show(args, operations.getOperatorHealth, {}, linesOf);
    if (warnings.length > 0) process.exitCode = 1;
  },
});

const healthNames = [
  "publication",
  "chain",
  "sponsor",
  "donations",
  "backup",
  "refused",
  "access",
  "store",
  "webhooks",
] as const;

const numbers = defineCommand({
  meta: { name: "numbers", description: "Shows what happened day by day, in UTC" },
  args: {
    days: { type: "string", default: "7", description: "How many days, including today" },
    json,
  },
  run: async ({ args }) => {
    const what = `--days: give a whole number from 1 to ${daysLimit.max}.`;
    const days = numberOption(args.days, what, daysLimit.max);
    await show(args, operations.getDailyNumbers, { query: { days } }, (found) =>
      Object.entries(found).map(([name, values]) => {
        const shown = values.map((value) => String(value).padStart(10)).join(" ");
        return `${name.padEnd(18)}${shown}`;
      }),
    );
  },
});

const revert = defineCommand({
  meta: {
    name: "revert",
    description:
      "Undoes everything one agent's agreement made live, or named submissions: empties the fields, takes back credit, keeps the log",
  },
  args: {
    agent: { type: "string", description: "The agent's id; needed without --submissions" },
    submissions: {
      type: "string",
      description: "Only these, by their numbers with commas between (see review agent)",
    },
    reason: {
      type: "string",
      default: "reverted by an operator",
      description: "Why; agents see it in prior_rejections",
    },
    operator,
    json,
  },
  run: ({ args }) => {
    const submissions = args.submissions?.split(",").map(Number);
    if (submissions?.some((one) => !Number.isSafeInteger(one) || one < 1) === true) {
      stopWith("--submissions: give the numbers of submissions, with commas between.", 2);
    }
    const agent_id =
      submissions === undefined
        ? neededOption("agent", args.agent, "give the id of the agent to revert.")
        : args.agent;
    return withOperatorApi(args.operator, async (call) => {
      const progress = startProgress("Reverting", 0);
      const total = { submissions: 0, emptied: 0, recommendations: 0 };
      let part: Reverted;
      // One request undoes a part: the service goes on answering others meanwhile.
      do {
        const body = { agent_id, submissions, reason: args.reason };
        const undone = await call(operations.revertAgent, { body });
        if (!undone.ok && undone.failure.kind === "invalid_review") {
          stopWith("--reason: say why, in at most 500 characters.", 2);
        }
        part = valueOf(undone);
        total.submissions += part.submissions;
        total.emptied += part.emptied;
        total.recommendations += part.recommendations;
        progress.at(total.submissions);
      } while (!part.complete);
      progress.end();
      print(args, { ...part, ...total }, ({ agent_id: agent, ...found }) => [
        `${agent ?? "Done"}: ${found.submissions} submissions reverted, ${found.emptied} fields emptied, ${found.recommendations} recommendations removed.`,
      ]);
      if (total.submissions + total.recommendations === 0) process.exitCode = 1;
    });
  },
});

const revoke = defineCommand({
  meta: {
    name: "revoke",
    description:
      "Takes back a verification: the profile becomes an unclaimed listing, without what the claim brought",
  },
  args: {
    slug: { type: "string", description: "Slug of the profile (required)" },
    reason: { type: "string", description: "Why, for the audit log (required)" },
    values: {
      type: "boolean",
      default: true,
      description: "Empty mission, website, city and country, too, where the organisation set them",
      negativeDescription: "Keep mission, website, city and country as the organisation set them",
    },
    operator,
    json,
  },
  run: async ({ args }) => {
    const slug = neededOption("slug", args.slug, "give the slug of the profile.");
    const reason = neededOption("reason", args.reason, "say why, for the audit log.");
    const asked = { params: { slug }, body: { reason, take_back_values: args.values } };
    await change(args, slug, verificationOperations.revokeVerification, asked, (revoked) => {
      const { taken_back, stopped_hold } = revoked;
      const fields = taken_back.length === 0 ? "nothing" : taken_back.join(", ");
      const hold = stopped_hold ? "\nThe held wallet is stopped." : "";
      return `${slug} is a listing again. Taken back: ${fields}.${hold}`;
    });
  },
});

const erase = defineCommand({
  meta: {
    name: "erase",
    description:
      "Erases name and address of who sent a request, or of all requests from an address, at once",
  },
  args: {
    id: {
      ...id,
      required: false,
      description: "Id of the request, for example onboarding-4f1c… or correction-4f1c…",
    },
    email: { type: "string", description: "All requests from this address instead" },
    operator,
    json,
  },
  run: async ({ args }) => {
    const body = { review: args.id ?? null, email: args.email ?? null };
    if ((body.review === null) === (body.email === null)) {
      stopWith("Give the id of a request, or --email.", 2);
    }
    const asked = { body };
    const what = body.review ?? "erase";
    await change(args, what, verificationOperations.eraseContacts, asked, (done) =>
      [
        `Erased: ${done.erased.length === 0 ? "nothing" : done.erased.join(", ")}.`,
        ...done.waiting.map((one) => `${one} waits for a decision: reject it, then erase again.`),
        ...done.profiles.map(
          (slug) => `${slug} has this address as its contact: edit the profile.`,
        ),
      ].join("\n"),
    );
  },
});

const command = defineCommand({
  meta: {
    name: "review",
    description:
      "Decides what waits for an operator, through the running service or, without one, in the store. Exit code 1: nothing was decided.",
  },
  subCommands: {
    queues,
    list,
    show: showOne,
    approve,
    reject,
    check,
    erase,
    revert,
    revoke,
    log,
    audit,
    health,
    numbers,
    pick,
    profile,
    agent: agents,
  },
});

await runCommand(command);
