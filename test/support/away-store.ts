import { openStore, type Store } from "#content/store/open.ts";

const noRows = { cols: [], rows: [], affected_row_count: 0, last_insert_rowid: null };

/** A store on a database server that has gone away since it was opened. */
export async function anAwayStore(): Promise<Store> {
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      if (request.method === "GET") return new Response("ok");
      const { requests } = (await request.json()) as { requests: { type: string }[] };
      const results = requests.map(({ type }) => ({
        type: "ok",
        response: type === "execute" ? { type, result: noRows } : { type },
      }));
      return Response.json({ baton: null, base_url: null, results });
    },
  });
  const store = await openStore({ url: `http://127.0.0.1:${server.port}`, migrated: true });
  await server.stop(true);
  return store;
}
