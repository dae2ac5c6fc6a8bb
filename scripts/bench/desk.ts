import { defineCommand } from "citty";
import { reviewKinds } from "#content/contract/review.ts";
import { fillQueues } from "./desk/fill-queues.ts";
import { type Figure, printFigures, quantile } from "./support/figures.ts";
import { serveService } from "./support/served-service.ts";
import { runCommand } from "../support/command.ts";

/** Source: issue 7, "Figures". */
const openMaxMs = 200;
const token = "a-token-for-the-bench-of-the-desk";

const command = defineCommand({
  meta: {
    name: "bench desk",
    description: "Opens the desk's pages over HTTP with so many things in each of its queues",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    items: { type: "string", default: "10000", description: "Things that wait, of each kind" },
    times: { type: "string", default: "20", description: "How often each page is opened" },
    port: { type: "string", default: "18439", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const items = Number(args.items);
    const service = await serveService({
      profiles: Number(args.profiles),
      port: Number(args.port),
      prepare: (store) => fillQueues(store, items),
      env: { ALMONER_ADMIN_TOKENS: `ada:${token}` },
    });
    try {
      const cookie = await signIn(service.url);
      const open = (path: string) => opened(`${service.url}${path}`, cookie, Number(args.times));
      const figures: Figure[] = [];
      for (const kind of reviewKinds) {
        const first = await open(`/desk/queues/${kind}`);
        figures.push(figure(`queue ${kind}`, first));
        const later = /href="(\/desk\/queues\/[^"]*\?after=[^"]*)"/.exec(first.body)?.[1];
        if (later === undefined) throw new Error(`the queue of ${kind} has no second page`);
        figures.push(
          figure(`queue ${kind}, its second page`, await open(later.replaceAll("&amp;", "&"))),
        );
        const review = /href="(\/desk\/reviews\/[^"]+)"/.exec(first.body)?.[1] ?? "";
        figures.push(figure(`one of ${kind}`, await open(review)));
      }
      // Health is left out: it waits for a chain, and none runs here.
      for (const path of ["/desk", "/desk/log", "/desk/charts"])
        figures.push(figure(path, await open(path)));
      printFigures(
        `The desk, ${args.profiles} profiles, ${items} of each kind`,
        figures,
        args.json === true,
      );
    } finally {
      await service.close();
    }
  },
});

type Opened = { timesMs: number[]; body: string };

const figure = (what: string, { timesMs }: Opened): Figure => {
  const slowest = Math.max(...timesMs);
  return {
    what,
    measured: `p50 ${quantile(timesMs, 0.5).toFixed(1)}, slowest ${slowest.toFixed(1)} ms`,
    asked: `≤ ${openMaxMs} ms`,
    met: slowest <= openMaxMs,
  };
};

/** The first opening counts, too: nobody warms a page up. */
async function opened(url: string, cookie: string, times: number): Promise<Opened> {
  const timesMs: number[] = [];
  let body = "";
  for (let at = 0; at < times; at++) {
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { cookie } });
    body = await response.text();
    timesMs.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  }
  return { timesMs, body };
}

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

await runCommand(command);
