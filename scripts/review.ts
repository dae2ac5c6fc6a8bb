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
import { approve, list, queues, reject, showOne } from "./review/reviews.ts";
import { flag, positional, runCommand, textOption, wordedCommand } from "./support/command.ts";
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
  print,
  reasonOf,
  show,
  valueOf,
  withOperatorApi,
} from "./support/operator-api.ts";
import { startProgress } from "./support/progress.ts";

const check = wordedCommand("review check", {
  args: { id: positional, operator, json },
  run: async ({ args }) => {
    const asked = { params: { id: args.id } };
    await change(args, args.id, verificationOperations.checkHostControl, asked);
  },
});

const log = wordedCommand("review log", {
  args: {
    operator: textOption,
    action: textOption,
    subject: textOption,
    before: textOption,
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

const health = wordedCommand("review health", {
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

const numbers = wordedCommand("review numbers", {
  args: {
    days: { ...textOption, default: "7" },
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

const revert = wordedCommand("review revert", {
  args: {
    agent: textOption,
    submissions: textOption,
    reason: { ...textOption, default: "reverted by an operator" },
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

const revoke = wordedCommand("review revoke", {
  args: {
    slug: textOption,
    reason: textOption,
    values: { ...flag, default: true },
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

const erase = wordedCommand("review erase", {
  args: {
    id: { ...positional, required: false },
    email: textOption,
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

const command = wordedCommand("review", {
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
