import { createServer, type Socket } from "node:net";
import { once } from "node:events";

/** What a server does with one request: bytes as they go over the wire, then an end, a reset, or nothing more. */
export type Answer = {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Content-Length; the body's own when absent, none when null. */
  length?: number | null;
  after?: "end" | "reset" | "stall";
};

export type Asked = { method: string; path: string; headers: Record<string, string> };

export type LyingServer = {
  origin: string;
  asked: Asked[];
  /** Answers requests in turn; the last one answers all that follow. */
  answers: ((asked: Asked) => Answer)[];
  close(): void;
};

/** A web server that need not keep to HTTP: it announces what it likes, stops in the middle, or says nothing. */
export async function aLyingServer(): Promise<LyingServer> {
  const sockets = new Set<Socket>();
  const served: Omit<LyingServer, "origin"> = {
    asked: [],
    answers: [],
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      const [line = "", ...rest] = bytes.toString().split("\r\n");
      const headers = rest.flatMap((header) => {
        const at = header.indexOf(": ");
        return at < 0 ? [] : [[header.slice(0, at).toLowerCase(), header.slice(at + 2)]];
      });
      const [method = "", path = ""] = line.split(" ");
      const asked = { method, path, headers: Object.fromEntries(headers) };
      served.asked.push(asked);
      const next = served.answers.length > 1 ? served.answers.shift() : served.answers[0];
      const answer = next?.(asked) ?? { status: 404 };
      const length = answer.length ?? Buffer.from(answer.body ?? "").length;
      send(socket, method === "HEAD" ? { ...answer, body: "", length, after: "end" } : answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return Object.assign(served, { origin: `http://127.0.0.1:${port}` });
}

function send(socket: Socket, { status = 200, headers = {}, body = "", length, after }: Answer) {
  const bytes = Buffer.from(body);
  const size = length === undefined ? bytes.length : length;
  const lines = [
    `HTTP/1.1 ${status} Said`,
    "connection: close",
    ...(size === null ? [] : [`content-length: ${size}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.write(bytes, () => {
    if (after === "stall") return;
    // A client that hears of the end first would drop what it has not read, also on a busy machine.
    const pauseMs = size === null || size > bytes.length ? 400 : 0;
    setTimeout(() => (after === "reset" ? socket.resetAndDestroy() : socket.end()), pauseMs);
  });
}
