import type { Load, LoadOrder } from "./load.ts";

// A client in a process of its own: raw sockets that are kept open, one request at a time on each. So the processor
// time that a full HTTP client takes is not taken from the service that is measured.

const headMax = 8_192;

const orders = (await Bun.stdin.json()) as LoadOrder;
console.log(JSON.stringify(await send(orders)));

/** Sends every path once; throws on a status but the expected one and on a closed connection. */
async function send(order: LoadOrder): Promise<Load> {
  const { port, paths, concurrency, headers, status, manyClients } = order;
  const timesMs: number[] = [];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const common = ` HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join("")}`;
  const rest = (nth: number) =>
    manyClients ? `${common}x-forwarded-for: ${clientOf(nth)}\r\n\r\n` : `${common}\r\n`;
  let next = 0;
  const startMs = performance.now();
  const sender = async () => {
    const connection = await connect(port, status);
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
      const sentMs = performance.now();
      await connection.ask(`GET ${path}${rest(next)}`);
      timesMs.push(performance.now() - sentMs);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  return { timesMs, perSecond: (paths.length / (performance.now() - startMs)) * 1_000 };
}

function clientOf(nth: number): string {
  return `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`;
}

type Connection = { ask(request: string): Promise<void>; close(): void };

async function connect(port: number, status: number): Promise<Connection> {
  let waiting: { resolve: () => void; reject: (error: Error) => void } | null = null;
  let head = "";
  let bodyLeft = -1;
  const take = (chunk: Uint8Array) => {
    let from = 0;
    if (bodyLeft === -1) {
      // The head comes in one piece or two; the body behind it is only counted.
      const text = head + Buffer.from(chunk).toString("latin1", 0, headMax);
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) {
        head = text;
        return;
      }
      from = end + 4 - head.length;
      head = "";
      bodyLeft = lengthOf(text.slice(0, end), status);
    }
    bodyLeft -= chunk.byteLength - from;
    if (bodyLeft > 0) return;
    bodyLeft = -1;
    waiting?.resolve();
  };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, chunk) => {
        try {
          take(chunk);
        } catch (error) {
          waiting?.reject(error as Error);
        }
      },
      close: () => waiting?.reject(new Error("the service closed a connection")),
      error: (_, error) => waiting?.reject(error),
    },
  });
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => {
      waiting = null;
      socket.end();
    },
  };
}

/** The length of the body; throws on another status. */
function lengthOf(head: string, status: number): number {
  if (!head.startsWith(`HTTP/1.1 ${status} `)) throw new Error(head.slice(0, head.indexOf("\r\n")));
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error("an answer without content-length");
  return Number(length);
}
