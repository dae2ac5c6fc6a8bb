import { verificationOperations } from "#content/contract/operations/onboarding.ts";
import {
  operatorOperations as operations,
  profileOperations,
} from "#content/contract/operations/operator.ts";
import { pickOperations } from "#content/contract/operations/recommendation.ts";
import { type AuditEntry, DailyNumbers, daysLimit } from "#content/contract/operator.ts";
import { ProfileEdit } from "#content/contract/profile-change.ts";
import type { PickItem } from "#content/contract/recommendation.ts";
import type { Reverted } from "#content/contract/review.ts";
import { audit } from "./review/audit.ts";
import { argsOf, inputOf, operated, pageLines } from "./review/operated.ts";
import { approve, list, queues, reject, showOne } from "./review/reviews.ts";
import {
  flag,
  positional,
  print,
  runCommand,
  textOption,
  wordedCommand,
} from "./support/command.ts";
import { stopWith } from "./support/config.ts";
import { nameIn, show, valueIn, withOperatorApi } from "./support/operator-api.ts";
import { startProgress } from "./support/progress.ts";

const log = operated("review log", operations.readAuditLog, {
  linesOf: ({ entries, next }) =>
    pageLines(entries.map(lineOf), "The log is empty.", ["--before", next]),
});

/** Subjects and details may contain texts of others: escaped, so that they cannot control the terminal. */
const lineOf = ({ happened_at, operator: by, action, subject, detail }: AuditEntry): string =>
  `${happened_at}  ${by}  ${action}  ${JSON.stringify(subject)}  ${JSON.stringify(detail)}`;

const health = wordedCommand("review health", {
  args: { json: flag },
  run: async ({ args }) => {
    const { warnings } = await show(args, operations.getOperatorHealth, {}, (state) => [
      ...healthNames.map(
        (name) =>
          `${name.padEnd(14)}${state[name] === null ? "not known here" : JSON.stringify(state[name])}`,
      ),
      ...state.warnings.map((warning) => `! ${warning}`),
    ]);
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

const numbers = operated("review numbers", operations.getDailyNumbers, {
  args: { days: { ...textOption, default: "7" } },
  bodyOf: ({ days }) =>
    Number(days) > daysLimit.max ? stopWith(`--days: at most ${daysLimit.max}.`, 2) : {},
  linesOf: (days) =>
    Object.entries(DailyNumbers.parse(days)).map(
      ([name, values]) =>
        `${name.padEnd(18)}${values.map((value) => String(value).padStart(10)).join(" ")}`,
    ),
});

const revert = wordedCommand("review revert", {
  args: argsOf(operations.revertAgent, {
    reason: { ...textOption, default: "reverted by an operator" },
  }),
  run: ({ args }) => {
    if (args["agent"] === undefined && args["submissions"] === undefined)
      stopWith("Give --agent, --submissions, or both.", 2);
    const input = inputOf(operations.revertAgent, args);
    return withOperatorApi(nameIn(args), async (call) => {
      const progress = startProgress("Reverting", 0);
      const total = { submissions: 0, emptied: 0, recommendations: 0 };
      let part: Reverted;
      // One request undoes a part, so that the service can answer others in between.
      do {
        part = valueIn(await call(operations.revertAgent, input));
        total.submissions += part.submissions;
        total.emptied += part.emptied;
        total.recommendations += part.recommendations;
        progress.at(total.submissions);
      } while (!part.complete);
      progress.end();
      print(args, { ...part, ...total }, ({ agent_id, submissions, emptied, recommendations }) => [
        `${agent_id ?? "Done"}: ${submissions} submissions reverted, ${emptied} fields emptied, ${recommendations} recommendations removed.`,
      ]);
      if (total.submissions + total.recommendations === 0) process.exitCode = 1;
    });
  },
});

const revoke = operated("review revoke", verificationOperations.revokeVerification, {
  args: { slug: textOption, values: { ...flag, default: true } },
  linesOf: ({ slug, taken_back, put_back, stopped_hold }) => [
    `${slug} is a listing again. Taken back: ${taken_back.join(", ") || "nothing"}.`,
    ...(put_back.length === 0 ? [] : [`What was there before is back: ${put_back.join(", ")}.`]),
    ...(stopped_hold ? ["The held wallet is stopped."] : []),
  ],
});

const erase = operated("review erase", verificationOperations.eraseContacts, {
  args: { id: { ...positional, required: false } },
  bodyOf: ({ id, email }) =>
    (id === undefined) === (email === undefined)
      ? stopWith("Give the id of a request, or --email.", 2)
      : {},
  linesOf: ({ erased, waiting, profiles }) => [
    `Erased: ${erased.join(", ") || "nothing"}.`,
    ...waiting.map((id) => `${id} waits for a decision: reject it, then erase again.`),
    ...profiles.map((slug) => `${slug} has this address as its contact: edit the profile.`),
  ],
});

const agent = wordedCommand("review agent", {
  subCommands: {
    submissions: operated("review agent submissions", operations.listAgentSubmissions, {
      args: { agent: positional },
      linesOf: (page) =>
        pageLines(
          // Escaped, so that texts of others cannot control the terminal.
          page.submissions.map(
            ({ submission_id, applied_at, slug, field, value }) =>
              `${submission_id}  ${applied_at}  ${slug}  ${field}: ${JSON.stringify(value)}`,
          ),
          "Nothing of this agent is live by agreement.",
          ["--after", page.next],
        ),
    }),
    bind: operated("review agent bind", operations.bindAgentForOwner, {
      args: { agent: positional },
      linesOf: ({ agent_id, agent_secret }) => [
        `${agent_id} is bound. Hand this secret to its owner:`,
        agent_secret,
      ],
    }),
    name: operated("review agent name", operations.approveAgentName, {
      args: { agent: positional },
      linesOf: ({ agent_id, approved_name }) => [
        approved_name === null
          ? `${agent_id} has no approved name.`
          : `${agent_id} is named ${JSON.stringify(approved_name)}.`,
      ],
    }),
  },
});

const pick = wordedCommand("review pick", {
  subCommands: {
    list: operated("review pick list", pickOperations.listPicks, {
      linesOf: ({ picks, in_file, next }) => [
        ...(picks.length === 0 ? ["The store has no recommendations."] : picks.map(printedPick)),
        ...in_file.map((slug) => `${slug}  (content/editorial/starter-set.json)`),
        ...(next === null ? [] : [`More: --after ${next}`]),
      ],
    }),
    add: operated("review pick add", pickOperations.addPick, { args: { slug: positional } }),
    edit: operated("review pick edit", pickOperations.editPick, {
      bodyOf: ({ for: intents, why, causes }) =>
        [intents, why, causes].every((option) => option === undefined)
          ? stopWith("Give at least one of --for, --why and --causes.", 2)
          : {},
    }),
    remove: operated("review pick remove", pickOperations.removePick),
  },
});

/** Texts of others are printed with control characters escaped, so that they cannot control the terminal. */
function printedPick({ slug, origin, added_by, recommended_for, why_recommended }: PickItem) {
  return [
    `${slug}  by ${origin}${added_by === "" ? "" : ` (${JSON.stringify(added_by)})`}`,
    ...recommended_for.map((intent) => `  for ${JSON.stringify(intent)}`),
    `  ${JSON.stringify(why_recommended)}`,
    "",
  ].join("\n");
}

const editable = ProfileEdit.shape.values.shape;
const editableNames = Object.keys(editable).join(", ");

const profile = wordedCommand("review profile", {
  subCommands: {
    withdraw: operated("review profile withdraw", profileOperations.withdrawProfile),
    restore: operated("review profile restore", profileOperations.restoreProfile),
    edit: operated("review profile edit", profileOperations.editProfile, {
      args: {
        field: { type: "string", description: `One of ${editableNames} (required)` },
        value: textOption,
      },
      bodyOf: ({ field, value }) => {
        const name = String(field).trim();
        if (!(name in editable)) stopWith(`--field: give one of ${editableNames}.`, 2);
        const text = value === undefined ? null : String(value);
        return { values: { [name]: text === null ? null : fieldValue(name, text) } };
      },
    }),
    merge: operated("review profile merge", profileOperations.mergeProfile),
  },
});

/** A text unchanged if the field takes one; otherwise the number or list in it. */
function fieldValue(field: string, text: string): unknown {
  if (editable[field as keyof typeof editable].safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const command = wordedCommand("review", {
  subCommands: {
    queues,
    list,
    show: showOne,
    approve,
    reject,
    check: operated("review check", verificationOperations.checkHostControl),
    erase,
    revert,
    revoke,
    log,
    audit,
    health,
    numbers,
    pick,
    profile,
    agent,
  },
});

if (import.meta.main) await runCommand(command);
