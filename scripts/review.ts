import { defineCommand } from "citty";
import { verificationOperations } from "#content/contract/operations/onboarding.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import {
  type AuditEntry,
  DailyNumbers,
  daysLimit,
  type OperatorHealth,
} from "#content/contract/operator.ts";
import type { Reverted } from "#content/contract/review.ts";
import { audit } from "./review/audit.ts";
import { agents } from "./review/agents.ts";
import { pick } from "./review/picks.ts";
import { profile } from "./review/profiles.ts";
import { approve, id, list, queues, reject, showOne } from "./review/reviews.ts";
import { runCommand } from "./support/command.ts";
import { stopWith } from "./support/config.ts";
import {
  change,
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
  reason,
  reasonOf,
  show,
  valueOf,
  withOperatorApi,
} from "./support/operator-api.ts";
import { startProgress } from "./support/progress.ts";

const check = defineCommand({
  meta: {
    name: "check",
    description: "Looks whether the sender of a request controls the organisation's host",
  },
  args: { id, operator, json },
  run: async ({ args }) => {
    const asked = { params: { id: args.id } };
    await change(args, args.id, verificationOperations.checkHostControl, asked);
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
      Object.entries(DailyNumbers.parse(found)).map(([name, values]) => {
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
    reason,
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
    const body = { reason: reasonOf(args.reason), take_back_values: args.values };
    const asked = { params: { slug }, body };
    await change(args, slug, verificationOperations.revokeVerification, asked, (revoked) => {
      const { taken_back, put_back, stopped_hold } = revoked;
      const fields = taken_back.length === 0 ? "nothing" : taken_back.join(", ");
      const hold = stopped_hold ? "\nThe held wallet is stopped." : "";
      const back =
        put_back.length === 0 ? "" : `\nWhat was there before is back: ${put_back.join(", ")}.`;
      return `${slug} is a listing again. Taken back: ${fields}.${back}${hold}`;
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
