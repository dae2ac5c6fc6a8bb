import { forFile } from "./at-file-top.ts";
import { openListIndex } from "#content/find/browse-store.ts";
import { discovery } from "#site/documents/discovery.ts";
import { listen } from "#api/http/listen.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { aRenderer, textOf } from "./compiled-site.ts";
import { freePort } from "./processes.ts";
import { aService, type TestService } from "./service.ts";

/** The service on a socket with its discovery files before it, as the bundle would serve them, unless `hasFiles` is false. */
export async function aDirectory({
  hasFiles = true,
  ...options
}: Parameters<typeof aService>[0] & { hasFiles?: boolean }) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const service = await aService({ ...options, env: { ALMONER_BASE_URL: url, ...options.env } });
  const files = hasFiles ? await discoveryFiles(service, url) : new Map<string, string>();
  const listening = listen(
    service.app,
    { host: "127.0.0.1", port, baseUrl: url },
    {
      before: (request) => {
        const path = new URL(request.url).pathname.slice(1);
        const body = files.get(path);
        if (body === undefined) return null;
        return new Response(body, { headers: { "content-type": headersOf(path).contentType } });
      },
    },
  );
  return {
    service,
    listening,
    /** Its origin, without a trailing slash. */
    url,
    /** The discovery files as they were at the beginning, by path; a test may add others. */
    files,
    close: async () => {
      await listening.stop({ graceMs: 100 });
      service.close();
    },
  };
}

export const theDirectory = forFile(aDirectory);

/** All discovery files of a service, by path. */
export async function discoveryFiles(
  { store }: Pick<TestService, "store">,
  baseUrl: string,
): Promise<Map<string, string>> {
  const lists = openListIndex(store);
  const source = { store, lists, baseUrl, network: "local" as const, renderer: await aRenderer() };
  const files = new Map<string, string>();
  for await (const keys of discovery.all(source)) {
    for (const { path, body } of await discovery.render(keys, source)) {
      files.set(path, textOf(body));
    }
  }
  return files;
}
