import { reviewKinds } from "#content/contract/review.ts";
import { storeCharts } from "#content/statistics/charts-store.ts";
import { fillQueues } from "./desk/fill-queues.ts";
import { type Figure, figure, median, runBench, serving } from "./support/harness.ts";
import { send } from "./support/load.ts";
import { serve } from "./support/serve.ts";

/** The slowest answer that an operator should wait for. */
const openMaxMs = 200;
const token = "a-token-for-the-bench-of-the-desk";

async function signIn(url: string): Promise<string> {
  const page = await fetch(`${url}/desk/sign-in`);
  const formCookie = page.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const form = /name="token"\s+value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
  const answer = await fetch(`${url}/desk/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: formCookie, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ token: form, operator_token: token }).toString(),
  });
  const session = answer.headers.getSetCookie()[0]?.split(";")[0];
  if (answer.status !== 303 || session === undefined) throw new Error("could not sign in");
  return session;
}

await runBench({
  name: "desk",
  description: "Opens the desk's pages over HTTP with a number of items in each queue",
  options: {
    ...serving,
    items: [10_000, "Items that wait, of each kind"],
    times: [20, "How often each page is opened"],
  },
  run: async ({ profiles, port, items, times, folder }) => {
    await using service = await serve({
      folder,
      profiles,
      port,
      prepare: async (store) => {
        await fillQueues(store, items);
        // The publisher, which none of these pages needs, does so every quarter of an hour.
        await storeCharts(store, new Date());
      },
      env: { ALMONER_ADMIN_TOKENS: `ada:${token}` },
    });
    const headers = { cookie: await signIn(service.url) };
    const figures: Figure[] = [];
    /** The first opening counts, too: no one warms a page up. */
    const open = async (what: string, path: string) => {
      const requests = Array.from({ length: times }, () => ({ path, headers }));
      const { timesMs } = await send(service.url, requests, { atOnce: 1 });
      figures.push(figure(`${what}: p50`, median(timesMs), "ms"));
      figures.push(figure(`${what}: slowest`, Math.max(...timesMs), "ms", { most: openMaxMs }));
    };
    for (const kind of reviewKinds) {
      const path = `/desk/queues/${kind}`;
      await open(`queue ${kind}`, path);
      const page = await (await fetch(service.url + path, { headers })).text();
      const later = /href="(\/desk\/queues\/[^"]*\?after=[^"]*)"/.exec(page)?.[1];
      if (later === undefined) throw new Error(`the queue of ${kind} has no second page`);
      await open(`queue ${kind}, its second page`, later.replaceAll("&amp;", "&"));
      await open(`one of ${kind}`, /href="(\/desk\/reviews\/[^"]+)"/.exec(page)?.[1] ?? "");
    }
    // Health is left out: it waits for a chain, and none runs here. So does the overview, whose wait is shown.
    for (const path of ["/desk", "/desk/log", "/desk/charts"]) await open(path, path);
    return { title: `The desk, ${profiles} profiles, ${items} of each kind`, figures };
  },
});
