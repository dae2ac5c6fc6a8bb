import type { SubmissionStatus } from "#content/contract/enrichment.ts";
import type { WriteTransaction } from "#content/store/open.ts";

/** Names of the running numbers in enrichment_counts. `public_…` leave test data out. */
export type CountName =
  | "total"
  | "high_confidence"
  | "public_submissions"
  | "public_applied"
  | "nonprofits_improved"
  | `status:${SubmissionStatus}`
  | `field:${string}`;

type AgentDelta = {
  agent_name: string;
  /** The place of the job that gave the name. */
  named: number;
  submissions: number;
  applied: number;
  nonprofits_touched: number;
  last_seen: number;
};

/** What a transaction adds to the running numbers: gathered in memory, written once at its end. */
export class EnrichmentTally {
  readonly #counts = new Map<CountName, number>();
  readonly #agents = new Map<string, AgentDelta>();

  add(name: CountName, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  /** Counts submissions that change from one status to another. */
  move(from: SubmissionStatus, to: SubmissionStatus, by = 1): void {
    this.add(`status:${from}`, -by);
    this.add(`status:${to}`, by);
  }

  /**
   * A submission of this agent came in; test data names the agent, but counts nothing for it. The name is that of the
   * submission with the greatest `place`, in whatever order they are told.
   */
  seen(
    agent: { agent_id: string; agent_name: string; at: number; place: number },
    { counted, touched }: { counted: boolean; touched: boolean },
  ): void {
    const delta = this.#agent(agent.agent_id);
    if (agent.place >= delta.named)
      [delta.agent_name, delta.named] = [agent.agent_name, agent.place];
    delta.last_seen = Math.max(delta.last_seen, agent.at);
    delta.submissions += counted ? 1 : 0;
    delta.nonprofits_touched += touched ? 1 : 0;
  }

  /** Gives credit for an applied submission, or takes it back. */
  credit(agentId: string, by: 1 | -1): void {
    this.#agent(agentId).applied += by;
    this.add("public_applied", by);
  }

  async write(tx: WriteTransaction): Promise<void> {
    const counts = [...this.#counts].filter(([, by]) => by !== 0);
    if (counts.length > 0) {
      await tx.raw.execute({
        sql: `INSERT INTO enrichment_counts (name, count)
              SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true
              ON CONFLICT (name) DO UPDATE SET count = count + excluded.count`,
        args: [JSON.stringify(counts)],
      });
    }
    if (this.#agents.size === 0) return;
    const agents = [...this.#agents].map(([agent_id, delta]) => ({ agent_id, ...delta }));
    await tx.raw.execute({
      sql: `INSERT INTO agents (agent_id, agent_name, submissions, applied, nonprofits_touched, last_seen)
            SELECT value ->> 'agent_id', value ->> 'agent_name', value ->> 'submissions', value ->> 'applied',
              value ->> 'nonprofits_touched', value ->> 'last_seen'
            FROM json_each(?) WHERE true
            ON CONFLICT (agent_id) DO UPDATE SET
              agent_name = iif(excluded.agent_name = '', agent_name, excluded.agent_name),
              submissions = submissions + excluded.submissions,
              applied = applied + excluded.applied,
              nonprofits_touched = nonprofits_touched + excluded.nonprofits_touched,
              last_seen = max(last_seen, excluded.last_seen)`,
      args: [JSON.stringify(agents)],
    });
  }

  #agent(agentId: string): AgentDelta {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const delta = {
      agent_name: "",
      named: 0,
      submissions: 0,
      applied: 0,
      nonprofits_touched: 0,
      last_seen: 0,
    };
    this.#agents.set(agentId, delta);
    return delta;
  }
}
