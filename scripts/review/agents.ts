import { positional, textOption, wordedCommand } from "../support/command.ts";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import {
  change,
  json,
  limitOf,
  operator,
  pageLimit,
  pageLines,
  pageNumberOf,
  reasonOf,
  show,
} from "../support/operator-api.ts";

const submissions = wordedCommand("review agent submissions", {
  args: { agent: positional, limit: pageLimit, after: textOption, json },
  run: async ({ args }) => {
    const [limit, after] = [limitOf(args.limit), pageNumberOf(args.after)];
    const query = { agent_id: args.agent, limit, after };
    await show(args, operations.listAgentSubmissions, { query }, (page) =>
      pageLines(
        // Escaped: what others wrote must not play with the terminal.
        page.submissions.map(
          ({ submission_id, applied_at, slug, field, value }) =>
            `${submission_id}  ${applied_at}  ${slug}  ${field}: ${JSON.stringify(value)}`,
        ),
        "Nothing of this agent is live by agreement.",
        ["--after", page.next],
      ),
    );
  },
});

const bind = wordedCommand("review agent bind", {
  args: { agent: positional, reason: textOption, operator, json },
  run: async ({ args }) => {
    const body = { agent_id: args.agent, reason: reasonOf(args.reason) };
    await change(args, args.agent, operations.bindAgentForOwner, { body }, (bound) =>
      [`${bound.agent_id} is bound. Hand this secret to its owner:`, bound.agent_secret].join("\n"),
    );
  },
});

const name = wordedCommand("review agent name", {
  args: {
    agent: positional,
    name: textOption,
    reason: textOption,
    operator,
    json,
  },
  run: async ({ args }) => {
    const body = {
      agent_id: args.agent,
      name: args.name ?? null,
      reason: reasonOf(args.reason),
    };
    await change(args, args.agent, operations.approveAgentName, { body }, (named) =>
      named.approved_name === null
        ? `${named.agent_id} has no approved name.`
        : `${named.agent_id} is named ${JSON.stringify(named.approved_name)}.`,
    );
  },
});

export const agents = wordedCommand("review agent", {
  subCommands: { submissions, bind, name },
});
