import type { Store } from "#content/store/open.ts";
import { newClient, post } from "./load.ts";
import { column } from "./serve.ts";

/** The service must trust one hop of proxies. */
type Directory = { store: Store; url: string; profiles: number };

const field = "founded_year";
const year = 1_998;
const backgroundWriteEveryMs = 40;
const readersAtOnce = 4;

const anyId = ({ profiles }: Directory): number => 1 + Math.floor(Math.random() * profiles);

/** Takes this from all profiles of a sample, so that there is enough to say. */
export const withoutYears = async ({ raw }: Store): Promise<void> => {
  await raw.execute(`UPDATE nonprofits SET ${field} = NULL`);
  await raw.execute(`DELETE FROM provenance WHERE field = '${field}'`);
};

/** A profile for which no one has said this yet. */
async function anyWithout({ store, ...directory }: Directory): Promise<string> {
  const [slug] = await column(
    store,
    `SELECT slug FROM nonprofits WHERE id >= ? AND ${field} IS NULL AND status <> 'withdrawn' ORDER BY id LIMIT 1`,
    [anyId({ store, ...directory })],
  );
  return slug ?? anyWithout({ store, ...directory });
}

let agents = 0;

async function submit({ url }: Directory, slug: string) {
  const { path, headers, ...request } = post(`/api/enrich/${slug}`, {
    field,
    value: String(year),
    agent_id: `bench-${agents++}`,
  });
  const answer = await fetch(url + path, {
    ...request,
    headers: { ...headers, ...newClient() },
  });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/**
 * Has two agents agree on a value of each of some profiles. Answers how many ms after the second ones said so readers, who
 * ask for all at once, have got them.
 */
export async function changeOf(bench: Directory, profiles = 1): Promise<number> {
  const slugs = new Set<string>();
  while (slugs.size < profiles) slugs.add(await anyWithout(bench));
  const said = () => Promise.all([...slugs].map((slug) => submit(bench, slug)));
  await said();
  const startedMs = performance.now();
  const reads = [...slugs].map(async (slug) => {
    const url = `${bench.url}/api/nonprofits/${slug}`;
    while (!(await (await fetch(url)).text()).includes(`"${field}":${year}`)) {
      if (performance.now() - startedMs > 30_000) throw new Error(`${url} did not show the change`);
    }
  });
  await Promise.all([said(), ...reads]);
  return performance.now() - startedMs;
}

/** Readers and a writer that go on meanwhile. */
export function disturb(bench: Directory) {
  let isGoing = true;
  let reads = 0;
  let writes = 0;
  const read = async () => {
    for (; isGoing; reads++) {
      const [slug] = await column(bench.store, "SELECT slug FROM nonprofits WHERE id = ?", [
        anyId(bench),
      ]);
      await (await fetch(`${bench.url}/nonprofits/${slug}`)).arrayBuffer();
      await Bun.sleep(5);
    }
  };
  const write = async () => {
    for (; isGoing; writes++) {
      await changeOf(bench);
      await Bun.sleep(backgroundWriteEveryMs);
    }
  };
  const all = [write(), ...Array.from({ length: readersAtOnce }, read)];
  const stop = async () => {
    isGoing = false;
    await Promise.all(all);
    return { reads, writes };
  };
  return { stop };
}
