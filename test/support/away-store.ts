import { openStore, type Store } from "#content/store/open.ts";
import { hranaServer } from "./hrana-server.ts";

/** A store on a database server that has gone away since it was opened. */
export async function anAwayStore(): Promise<Store> {
  const server = hranaServer(":memory:");
  const store = await openStore({ url: server.url, migrated: true });
  await server.stop();
  return store;
}
