import type { Config } from "#api/config.ts";
import { noteFollowUp, profileAt } from "#api/recommendation/follow-up.ts";
import type { Context } from "#api/context.ts";
import { EncodedBody } from "#api/http/encoded-body.ts";
import type { PageForm } from "#api/http/headers.ts";
import { discoveryHits } from "#content/operation/activity-store.ts";
import { languages } from "#content/language/languages.ts";
import { english } from "#content/language/texts.ts";
import { holdsSample } from "#content/operation/directory-facts-store.ts";
import { openListIndex } from "#content/nonprofit/list-index.ts";
import type { Store } from "#content/store/open.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { drawnForm } from "#site/documents/form-page.ts";
import { type Drawing, drawn as drawnPage } from "#site/documents/in-languages.ts";
import {
  drawnHistory,
  drawnList,
  drawnOrganisation,
  drawnSearch,
} from "#site/documents/list-page.ts";
import { drawnDonatePage, drawnProfile } from "#site/documents/profile.ts";
import type { BuildInputs } from "#site/profile/profile-view.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer, type Renderer } from "#site/renderer/renderer.ts";
import type { BundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { negotiatedCacheControl } from "#site/delivery/encoded-file.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { prefersMarkdown } from "#site/delivery/prefers-markdown.ts";
import { createFirstPages, type FirstPages } from "#site/delivery/before-first-release.ts";

/** Answers what the bundle holds; null leaves the request to the service. */
export type FrontDoor = (request: Request) => Response | null | Promise<Response | null>;

const tellLostEveryMs = 60_000;

/**
 * Puts the bundle before the service. While there is no release, at first or again, pages come from the renderer. `onLost` is told of
 * a file whose content is gone or damaged, at most once a minute.
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
    // Most of the time no one can be following a recommendation, and a page costs not even a hash.
    if (!recommendationLog.isFollowed(clock().getTime()) || request.method !== "GET") return;
    const step = profileAt(path);
    if (step !== null) noteFollowUp(context, request, step);
  };
  let toldMs = -Infinity;
  const tellLost = (path: string) => {
    if (performance.now() - toldMs < tellLostEveryMs) return;
    toldMs = performance.now();
    onLost(path);
  };
  const bundle = createBundleServer(reader, { onServed, onLost: tellLost });
  let firstPages: Promise<FirstPages> | null = null;
  const drawn = async (request: Request) => {
    firstPages ??= openFirstPages(config, store).catch((error: unknown) => {
      firstPages = null;
      throw error;
    });
    const page = await (await firstPages)(request);
    if (page?.status === 200) onServed(new URL(request.url).pathname, request);
    return page;
  };
  if (!reader.hasRelease()) firstPages = Promise.resolve(await openFirstPages(config, store));
  let drawing = firstPages !== null;
  return (request) => {
    const answer = bundle.answer(request);
    if (answer !== null) return answer;
    if (!reader.hasRelease()) {
      drawing = true;
      return drawn(request);
    }
    if (!drawing) return null;
    drawing = false;
    firstPages = null;
    return bundle.answer(request);
  };
}

/** Draws what is in no bundle, with the site as it was compiled for the publisher; opened when first asked. */
export function openDrawing(
  config: Pick<Config, "dataDir"> & BuildInputs,
  open: () => Promise<Renderer> = () => openCompiled(config),
): NonNullable<Context["draw"]> {
  const { baseUrl, network, isSample = false } = config;
  let opening: Promise<Renderer> | null = null;
  const source = async (language: string): Promise<Drawing> => {
    opening ??= open();
    const renderer = await opening.catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return { renderer, baseUrl, network, isSample, t: languages.get(language) ?? english };
  };
  const drawn = async (
    { language, accept, acceptEncoding }: PageForm,
    draw: (from: Drawing, form: { markdown: boolean }) => Promise<string | Uint8Array>,
    { path = "browse.html", status = 200 } = {},
  ) => {
    const markdown = prefersMarkdown(accept);
    const body = await draw(await source(markdown ? "en" : language), { markdown });
    const { contentType, cacheControl, others } = headersOf(markdown ? "browse.md" : path);
    const encoded = new EncodedBody(
      typeof body === "string" ? body : [new Uint8Array(body)],
      contentType,
    );
    const encoding = encoded.encodingFor(acceptEncoding);
    const headers = {
      ...others,
      "content-type": contentType,
      "cache-control": markdown ? negotiatedCacheControl : cacheControl,
      vary: "accept, accept-encoding",
      ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
    };
    return new Response(encoded.bytes(encoding), { status, headers });
  };
  return {
    list: (found, asked) => drawn(asked, (from, form) => drawnList(from, found, form)),
    search: (query, answer, asked) =>
      drawn(asked, (from, form) => drawnSearch(from, query, answer, form)),
    organisation: (known, asked) =>
      drawn(asked, (from, form) => drawnOrganisation(from, known, form)),
    history: (found, asked) => drawn(asked, (from, form) => drawnHistory(from, found, form)),
    profile: (record, form) =>
      drawn({ ...form, accept: null }, (from) => drawnProfile(from, record), {
        path: `nonprofits/${record.slug}.html`,
      }),
    donate: (record, form) =>
      drawn({ ...form, accept: null }, (from) => drawnDonatePage(from, record), {
        path: `donate/${record.slug}.html`,
      }),
    missing: (form) =>
      drawn({ ...form, accept: null }, (from) => drawnPage(from, "/404", {}), {
        path: "404.html",
        status: 404,
      }),
    form: async (page, { language }, status = 200) => {
      const body = await drawnForm(await source(language), page);
      const { contentType, others } = headersOf("browse.html");
      const headers = { ...others, "content-type": contentType, "cache-control": "no-store" };
      return new Response(typeof body === "string" ? body : new Uint8Array(body), {
        status,
        headers,
      });
    },
  };
}

async function openCompiled({ dataDir }: Pick<Config, "dataDir">): Promise<Renderer> {
  const compiled = await compileSite(publisherFolders(dataDir).compiled);
  return openRenderer(compiled.folder);
}

async function openFirstPages(config: Config, store: Store): Promise<FirstPages> {
  const renderer = await openCompiled(config);
  const { baseUrl, network } = config;
  const isSample = await holdsSample(store);
  return createFirstPages(
    { store, lists: openListIndex(store), renderer, baseUrl, network, isSample },
    documentKinds,
  );
}
