import { agentLengthMax } from "#content/contract/enrichment.ts";
import { foldAgentId } from "./agent-id.ts";
import { characterCount } from "#content/nonprofit/text-safety.ts";
import { checkLine } from "./validity.ts";

/** Who sends: the id in the form in which ids are compared, and a name for people. */
export type Agent = { agent_id: string; agent_name: string };

/** Reads how an agent names itself, and what is wrong with that. Without a name it goes by its id as it was written. */
export function readAgent(given: { agent_id: string; agent_name: string | null }): {
  agent: Agent;
  wrongs: { path: keyof Agent; message: string }[];
} {
  const written = given.agent_id.trim();
  const name = (given.agent_name ?? written).trim();
  const agent = { agent_id: foldAgentId(written), agent_name: name };
  // As it was written: the folded form has lost what must not be there.
  const lines = [
    ["agent_id", written],
    ["agent_name", name],
  ] as const;
  const wrongs = lines.flatMap(([path, line]) => {
    const message = checkLine(path, line);
    return message === null ? [] : [{ path, message }];
  });
  // Folding takes ligatures and wide letters apart.
  if (characterCount(agent.agent_id) > agentLengthMax) {
    const message = `agent_id has at most ${agentLengthMax} characters.`;
    wrongs.push({ path: "agent_id", message });
  }
  return { agent, wrongs };
}
