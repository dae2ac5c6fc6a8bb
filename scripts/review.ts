import { defineCommand } from "citty";
import { verificationOperations } from "#content/contract/operations/onboarding.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import { type AuditEntry, daysLimit, type OperatorHealth } from "#content/contract/operator.ts";
import type { Reverted } from "#content/contract/review.ts";
import { pick } from "./review/picks.ts";
import { approve, list, queues, reject, showOne } from "./review/queues.ts";
import { runCommand } from "./support/command.ts";
import { stopWith } from "./support/config.ts";
import {
  change,
  json,
  limitOf,
  neededOption,
  operator,
  pageLimit,
  pageLines,
  pageNumberOf,
  place,
  show,
  valueOf,
  withOperatorApi,
} from "./support/operator-api.ts";
import { startProgress } from "./support/progress.ts";

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

const healthNames = ["publication", "chain", "backup", "refused", "store", "webhooks"] as const;

const numbers = defineCommand({
  meta: { name: "numbers", description: "Shows what happened day by day, in UTC" },
  args: {
    days: { type: "string", default: "7", description: "How many days, including today" },
    json,
  },
  run: async ({ args }) => {
    const days = Number(args.days);
    if (!Number.isInteger(days) || days < 1 || days > daysLimit.max) {
      stopWith(`--days: give a whole number from 1 to ${daysLimit.max}.`, 2);
    }
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
      "Undoes everything one agent's agreement made live: empties the fields, takes back credit, keeps the log",
  },
  args: {
    agent: { type: "string", description: "The agent's id (required)" },
    reason: {
      type: "string",
      default: "reverted by an operator",
      description: "Why; agents see it in prior_rejections",
    },
    operator,
    json,
  },
  run: ({ args }) => {
    const agent_id = neededOption("agent", args.agent, "give the id of the agent to revert.");
    return withOperatorApi(args.operator, async (call) => {
      const progress = startProgress("Reverting", 0);
      const total = { submissions: 0, emptied: 0, recommendations: 0 };
      let part: Reverted;
      // One request undoes a part: the service goes on answering others meanwhile.
      do {
        const body = { agent_id, reason: args.reason };
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
      const { submissions, emptied, recommendations } = total;
      const sentence = `${part.agent_id}: ${submissions} submissions reverted, ${emptied} fields emptied, ${recommendations} recommendations removed.`;
      console.log(args.json === true ? JSON.stringify({ ...part, ...total }) : sentence);
      if (submissions + recommendations === 0) process.exitCode = 1;
    });
  },
});

const revoke = defineCommand({
  meta: {
    name: "revoke",
    description:
      "Takes back a verification: the profile becomes an unclaimed listing, without the wallet and contact of the claim",
  },
  args: {
    slug: { type: "string", description: "Slug of the profile (required)" },
    reason: { type: "string", description: "Why, for the audit log (required)" },
    values: {
      type: "boolean",
      description: "Also empty mission, website and city where the organisation set them",
    },
    operator,
    json,
  },
  run: async ({ args }) => {
    const slug = neededOption("slug", args.slug, "give the slug of the profile.");
    const reason = neededOption("reason", args.reason, "say why, for the audit log.");
    const asked = { params: { slug }, body: { reason, take_back_values: args.values === true } };
    await change(args, slug, verificationOperations.revokeVerification, asked, (revoked) => {
      const { taken_back, stopped_hold } = revoked;
      const fields = taken_back.length === 0 ? "nothing" : taken_back.join(", ");
      const hold = stopped_hold ? "\nThe held change of its wallet is stopped." : "";
      return `${slug} is a listing again. Taken back: ${fields}.${hold}`;
    });
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
    revert,
    revoke,
    log,
    health,
    numbers,
    pick,
  },
});

await runCommand(command);
