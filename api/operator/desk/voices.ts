import { z } from "zod";
import { html, type Part } from "./html.ts";
import { flagList, instant, sent, sentLink, table } from "./parts.ts";

/** What agents say of a field, as contested and contradicted values bring it along. */
const Voices = z.array(
  z.object({
    value: z.string(),
    agent_id: z.string(),
    agent_name: z.string(),
    source_url: z.string().nullable(),
    sent_at: z.string(),
    flags: z.array(z.string()),
  }),
);

/** Each value beside who sent it, where it was found and when; nothing for reviews of other kinds. */
export function voiceTable(values: unknown): Part {
  const read = Voices.safeParse(values);
  if (!read.success) return null;
  return html`<h2>What agents say</h2>
    ${table({
      columns: ["Value", "Agent", "Found at", "Sent"],
      rows: read.data.map(({ value, agent_id, agent_name, source_url, sent_at, flags }) => [
        html`<strong>${sent(value)}</strong>`,
        html`${sent(agent_name)}${agent_name === agent_id ? null : html` <span class="quiet">(<bdi>${agent_id}</bdi>)</span>`}${flagList(flags)}`,
        source_url === null ? sent(null) : sentLink(source_url),
        instant(sent_at),
      ]),
    })}`;
}
