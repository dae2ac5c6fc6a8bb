import { addressOf } from "#content/contract/base/request.ts";
import type { Config } from "#api/config.ts";
import { noteFollowUp, profileAt } from "#api/recommendation/follow-up.ts";
import type { Context } from "#api/context.ts";
import { namesSequence, waitForSequence } from "#api/http/sequence.ts";
import { discoveryHits } from "#content/operation/activity-store.ts";
import { holdsSample } from "#content/operation/directory-facts-store.ts";
import { atMostEvery } from "#content/runtime/timing.ts";
import { openListIndex } from "#content/find/browse-store.ts";
import type { Store } from "#content/store/open.ts";
import type { BundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { createFirstPages, type FirstPages } from "#site/delivery/before-first-release.ts";
import { openCompiled } from "./drawing.ts";

/** Answers requests for files of the bundle; null leaves the request to the service. */
export type FrontDoor = (request: Request) => Response | null | Promise<Response | null>;

const tellLostEveryMs = 60_000;

/**
 * Puts the bundle in front of the service. While there is no release, the renderer draws pages. `onLost` is called, at
 * most once a minute, for a file whose content is missing or damaged.
 */
export async function openFrontDoor(
  context: Context,
  reader: BundleReader,
  onLost: (path: string) => void = () => {},
): Promise<FrontDoor> {
  const { config, store, activity, recommendationLog, clock } = context;
  const onServed = (path: string, request: Request) => {
    const kind = discoveryHits.get(path);
    if (kind !== undefined) activity.count(kind);
    // Usually nothing was recommended in the last minute, so no hash of the user agent is computed.
    if (!recommendationLog.isFollowed(clock().getTime()) || request.method !== "GET") return;
    const step = profileAt(path);
    if (step !== null) noteFollowUp(context, request, step);
  };
  const isTold = atMostEvery(tellLostEveryMs);
  const tellLost = (path: string) => {
    if (isTold()) onLost(path);
  };
  const bundle = createBundleServer(reader, { onServed, onLost: tellLost });
  let firstPages: Promise<FirstPages> | null = null;
  const drawFirstPage = async (request: Request) => {
    firstPages ??= openFirstPages(config, store).catch((error: unknown) => {
      firstPages = null;
      throw error;
    });
    const page = await (await firstPages)(request);
    if (page?.status === 200) onServed(addressOf(request).path, request);
    return page;
  };
  if (!reader.hasRelease()) firstPages = Promise.resolve(await openFirstPages(config, store));
  let drawing = firstPages !== null;
  const answerOf: FrontDoor = (request) => {
    const answer = bundle.answer(request);
    if (answer !== null) return answer;
    if (!reader.hasRelease()) {
      drawing = true;
      return drawFirstPage(request);
    }
    if (!drawing) return null;
    drawing = false;
    firstPages = null;
    return bundle.answer(request);
  };
  return (request) =>
    namesSequence(request)
      ? waitForSequence(context, request).then(() => answerOf(request))
      : answerOf(request);
}

async function openFirstPages(config: Config, store: Store): Promise<FirstPages> {
  const renderer = await openCompiled(config);
  const { baseUrl, network, givingLinks } = config;
  const isSample = await holdsSample(store);
  const lists = openListIndex(store);
  return createFirstPages({ store, lists, renderer, baseUrl, network, isSample, givingLinks });
}
