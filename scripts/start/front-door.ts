import type { Config } from "#api/config.ts";
import type { Activity, ActivityKind } from "#content/store/activity.ts";
import type { Store } from "#content/store/open.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import type { BundleReader } from "#site/server/bundle-reader.ts";
import { createBundleServer } from "#site/server/bundle-server.ts";
import { createFirstPages, type FirstPages } from "#site/server/first-pages.ts";

/** Answers what the bundle holds; null leaves the request to the service. */
export type FrontDoor = (request: Request) => Response | null | Promise<Response | null>;

/** Discovery files whose hits are counted. Source: spec, GET /api/stats. */
const counted: Readonly<Record<string, ActivityKind>> = {
  "/llms.txt": "hit:llms_txt",
  "/agents.md": "hit:agents_md",
  "/AGENTS.md": "hit:agents_md",
  "/.well-known/ai-plugin.json": "hit:ai_plugin",
};

type Parts = { config: Config; store: Store; reader: BundleReader; activity: Activity };

/** Puts the bundle before the service. Until there is a first release, pages come from the renderer. */
export async function openFrontDoor({
  config,
  store,
  reader,
  activity,
}: Parts): Promise<FrontDoor> {
  const bundle = createBundleServer(reader, {
    onServed: (path) => {
      const kind = counted[path];
      if (kind !== undefined) activity.count(kind);
    },
  });
  let firstPages: FirstPages | null =
    reader.current().release === 0 ? await openFirstPages(config, store) : null;
  return (request) => {
    const answer = bundle.answer(request);
    if (answer !== null) return answer;
    if (firstPages === null) return null;
    if (reader.current().release === 0) return firstPages(request);
    firstPages = null;
    return bundle.answer(request);
  };
}

async function openFirstPages(config: Config, store: Store): Promise<FirstPages> {
  const compiled = await compileSite(publisherFolders(config.dataDir).compiled);
  const renderer = await openRenderer(compiled.folder);
  return createFirstPages({ store, renderer, baseUrl: config.baseUrl }, documentKinds);
}
