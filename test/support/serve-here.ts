type Answering = (request: Request) => Response | Promise<Response>;

/** A server of a test's own, at a free port of this machine. */
export const serveHere = (fetch: Answering): Bun.Server<undefined> =>
  Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
