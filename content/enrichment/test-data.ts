/** Hosts that stand for an example. `.example` is not among them: the sample directory lives there. */
const exampleHost = /(?:^|[@/.])example\.(?:org|com|net)(?:$|[/:?#])/i;
const fillerText = /\b(?:placeholder|lorem ipsum)\b/i;
const testAgent =
  /(?:^|[^\p{L}])(?:test(?:s|er|ing)?|test(?:agent|bot|user)|debug(?:ger|ging)?)(?:$|[^\p{L}])/iu;

type Submitted = { field: string; value: string; agent_id: string; agent_name: string };

/**
 * True for obvious test data: it is accepted, but kept out of the leaderboard, agents.md and second opinions.
 * Source: decisions.md, "Enrichment".
 */
export function isTestData({ field, value, agent_id, agent_name }: Submitted): boolean {
  const onExampleHost =
    (field === "website" || field === "contact_email") && exampleHost.test(value);
  const words = agent_name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " "); // "TestBot" is two words.
  return (
    onExampleHost || fillerText.test(value) || testAgent.test(agent_id) || testAgent.test(words)
  );
}
