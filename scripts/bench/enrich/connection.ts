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
