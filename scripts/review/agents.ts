import { operatorOperations as operations } from "#content/contract/operations/operator.ts";
import { positional, wordedCommand } from "#scripts/support/command.ts";
import { operated, pageLines } from "./operated.ts";

const args = { agent: positional };

const submissions = operated("review agent submissions", operations.listAgentSubmissions, {
  args,
  linesOf: (page) =>
    pageLines(
      // Escaped: what others wrote must not play with the terminal.
      page.submissions.map(
        ({ submission_id, applied_at, slug, field, value }) =>
          `${submission_id}  ${applied_at}  ${slug}  ${field}: ${JSON.stringify(value)}`,
      ),
      "Nothing of this agent is live by agreement.",
      ["--after", page.next],
    ),
});

const bind = operated("review agent bind", operations.bindAgentForOwner, {
  args,
  linesOf: ({ agent_id, agent_secret }) => [
    `${agent_id} is bound. Hand this secret to its owner:`,
    agent_secret,
  ],
});

const name = operated("review agent name", operations.approveAgentName, {
  args,
  linesOf: ({ agent_id, approved_name }) => [
    approved_name === null
      ? `${agent_id} has no approved name.`
      : `${agent_id} is named ${JSON.stringify(approved_name)}.`,
  ],
});

export const agents = wordedCommand("review agent", { subCommands: { submissions, bind, name } });
