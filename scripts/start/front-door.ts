import type { Config } from "#api/config.ts";
import { noteFollowUp, profileAt } from "#api/recommendation/follow-up.ts";
import type { Context } from "#api/context.ts";
import { discoveryHits } from "#content/operation/activity-store.ts";
import { openListIndex } from "#content/nonprofit/list-index.ts";
import type { Store } from "#content/store/open.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import type { BundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { createFirstPages, type FirstPages } from "#site/delivery/before-first-release.ts";

/** Answers what the bundle holds; null leaves the request to the service. */
export type FrontDoor = (request: Request) => Response | null | Promise<Response | null>;

/** Puts the bundle before the service. Until there is a first release, pages come from the renderer. */
export async function openFrontDoor(context: Context, reader: BundleReader): Promise<FrontDoor> {
  const { config, store, activity, recommendationLog, clock } = context;
  const onServed = (path: string, request: Request) => {
    const kind = discoveryHits.get(path);
    if (kind !== undefined) activity.count(kind);
    // Most of the time no one can be following a recommendation, and a page costs not even a hash.
    if (!recommendationLog.isFollowed(clock().getTime()) || request.method !== "GET") return;
    const step = profileAt(path);
    if (step !== null) noteFollowUp(context, request, step);
  };
  const bundle = createBundleServer(reader, { onServed });
  let firstPages: FirstPages | null =
    reader.current().release === 0 ? await openFirstPages(config, store) : null;
  return (request) => {
    const answer = bundle.answer(request);
    if (answer !== null) return answer;
    if (firstPages === null) return null;
    if (reader.current().release === 0) {
      return firstPages(request).then((page) => {
        if (page?.status === 200) onServed(new URL(request.url).pathname, request);
        return page;
      });
    }
    firstPages = null;
    return bundle.answer(request);
  };
}

async function openFirstPages(config: Config, store: Store): Promise<FirstPages> {
  const compiled = await compileSite(publisherFolders(config.dataDir).compiled);
  const renderer = await openRenderer(compiled.folder);
  const { baseUrl, network } = config;
  return createFirstPages(
    { store, lists: openListIndex(store), renderer, baseUrl, network },
    documentKinds,
  );
}
