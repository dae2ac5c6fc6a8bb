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

/** What came back: the status, and the body as text. */
export type Answered = { status: number; body: string };

/** One kept connection that sends prepared bytes and reads one answer at a time: as little client as there can be. */
export type Connection = {
  send(request: Uint8Array): Promise<Answered>;
  close(): void;
};

const headEnd = Buffer.from("\r\n\r\n");

/** Connects to the service under test. Only what it answers is understood: HTTP/1.1 with a Content-Length. */
export async function connect(port: number): Promise<Connection> {
  let received: Buffer = Buffer.alloc(0);
  let waiting: { resolve(answer: Answered): void; reject(error: Error): void } | null = null;
  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = null;
  };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, chunk) => {
        received = received.length === 0 ? Buffer.from(chunk) : Buffer.concat([received, chunk]);
        const answer = wholeAnswer(received);
        if (answer === null) return;
        received = Buffer.alloc(0);
        const asked = waiting;
        waiting = null;
        asked?.resolve(answer);
      },
      close: () => fail(new Error("the service closed the connection")),
      error: (_, error) => fail(error),
    },
  });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (socket.write(request) !== request.byteLength) {
          fail(new Error("a request did not fit into the socket"));
        }
      }),
    close: () => socket.end(),
  };
}

function wholeAnswer(received: Buffer): Answered | null {
  const bodyAt = received.indexOf(headEnd) + headEnd.length;
  if (bodyAt < headEnd.length) return null;
  const head = received.toString("latin1", 0, bodyAt).toLowerCase();
  const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error(`an answer without Content-Length: ${head}`);
  if (received.length < bodyAt + length) return null;
  return { status: Number(head.slice(9, 12)), body: received.toString("utf8", bodyAt) };
}
