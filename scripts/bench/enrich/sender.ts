import { connect, type Connection } from "./connection.ts";

/** What the sending process is told, as JSON on standard input. */
export type Sending = {
  port: number;
  concurrency: number;
  count: number;
  slugs: readonly string[];
  /** Tells the rounds apart: no agent and no value appears in two of them. */
  round: string;
  /** `apart`: no two agents agree, nothing goes live. `agree`: each is a pair, of which the second goes live. */
  kind: "apart" | "agree";
};

/** What it answers, as JSON on standard output. Every answer was looked at; `published` said `applied: true`. */
export type Sent = { totalMs: number; waitsMs: number[]; published: number };

let address = 0;

/** Every request claims an address of its own, so that the limit per address is not what is measured. */
function requestBytes({ port }: Sending, slug: string, agent_id: string, value: string): Buffer {
  address += 1;
  const from = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`;
  const body = JSON.stringify({ field: "contact_email", value, agent_id });
  return Buffer.from(
    `POST /api/enrich/${slug} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `x-forwarded-for: ${from}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function prepare(sending: Sending): Buffer[][] {
  const { kind, count, slugs, round } = sending;
  const slug = (at: number) => slugs[at % slugs.length] ?? "";
  return Array.from({ length: count }, (_, at) =>
    kind === "apart"
      ? [requestBytes(sending, slug(at), `${round}-${at}`, `${round}-${at}@bench.example`)]
      : ["x", "y"].map((name) =>
          requestBytes(sending, slug(at), `${round}-${name}${at}`, `agreed@${round}.example`),
        ),
  );
}

async function send(sending: Sending): Promise<Sent> {
  const jobs = prepare(sending);
  const connections = await Promise.all(
    Array.from({ length: sending.concurrency }, () => connect(sending.port)),
  );
  const sent: Sent = { totalMs: 0, waitsMs: [], published: 0 };
  let next = 0;
  const work = async (connection: Connection) => {
    for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
      for (const [at, request] of job.entries()) {
        const sentAtMs = performance.now();
        const { status, body } = await connection.send(request);
        if (at === job.length - 1) sent.waitsMs.push(performance.now() - sentAtMs);
        const due = at === 0 ? '"status":"pending"' : '"status":"applied"';
        if (status !== 200 || !body.includes(due)) throw new Error(`${status}: ${body}`);
        if (body.includes('"applied":true')) sent.published += 1;
      }
    }
  };
  const startedAtMs = performance.now();
  await Promise.all(connections.map(work));
  sent.totalMs = performance.now() - startedAtMs;
  for (const connection of connections) connection.close();
  return sent;
}

process.stdout.write(JSON.stringify(await send((await Bun.stdin.json()) as Sending)));
