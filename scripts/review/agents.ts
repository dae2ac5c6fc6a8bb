import { defineCommand } from "citty";
import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import {
  change,
  json,
  limitOf,
  operator,
  pageLimit,
  pageLines,
  pageNumberOf,
  place,
  reason,
  reasonOf,
  show,
} from "../support/operator-api.ts";

const agent = { type: "positional", required: true, description: "Id of the agent" } as const;

const submissions = defineCommand({
  meta: {
    name: "submissions",
    description: "Shows what an agent's agreement made live, with the numbers that revert takes",
  },
  args: { agent, limit: pageLimit, after: place, json },
  run: async ({ args }) => {
    const page = { limit: limitOf(args.limit), after: pageNumberOf(args.after) };
    const query = { agent_id: args.agent, ...page };
    await show(args, operations.listAgentSubmissions, { query }, (found) =>
      pageLines(
        // Escaped: what others wrote must not play with the terminal.
        found.submissions.map(
          (one) =>
            `${one.submission_id}  ${one.applied_at}  ${one.slug}  ${one.field}: ${JSON.stringify(one.value)}`,
        ),
        "Nothing of this agent is live by agreement.",
        ["--after", found.next],
      ),
    );
  },
});

const bind = defineCommand({
  meta: {
    name: "bind",
    description:
      "Binds an agent's id for its owner and prints the secret, once; an earlier one ends",
  },
  args: { agent, reason, operator, json },
  run: async ({ args }) => {
    const body = { agent_id: args.agent, reason: reasonOf(args.reason) };
    await change(args, args.agent, operations.bindAgentForOwner, { body }, (given) =>
      [`${given.agent_id} is bound. Hand this secret to its owner:`, given.agent_secret].join("\n"),
    );
  },
});

const name = defineCommand({
  meta: {
    name: "name",
    description: "Approves the name under which an agent's corroborations are named",
  },
  args: {
    agent,
    name: { type: "string", description: "The name; without it, an approval is taken back" },
    reason,
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

export const agents = defineCommand({
  meta: { name: "agent", description: "Binds and names agents, and lists what they made live" },
  subCommands: { submissions, bind, name },
});
