import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { Store } from "#content/store/open.ts";
import { column } from "./serve.ts";

type Edit = (before: NonprofitRecord) => Partial<NonprofitRecord>;
type Served = { store: Store; url: string };
type Directory = Served & { profiles: number };

const backgroundWriteEveryMs = 40;
const readersAtOnce = 4;

export const anyId = ({ profiles }: Directory): number => 1 + Math.floor(Math.random() * profiles);

let number = 0;
/** A text that no profile has had. */
const newText = (what: string): string => `${what} ${number++}`;

/** Changes profiles in one transaction; answers them as they are now. */
const edited = ({ store }: Pick<Served, "store">, ids: readonly number[], edit: Edit) =>
  store.write(async (tx) => {
    const records = await recordsById(tx, ids);
    const saves = records.map((before) => ({ before, after: { ...before, ...edit(before) } }));
    return saveNonprofits(tx, saves, { origin: "bench", now: new Date() });
  });

/** Changes profiles in one transaction; answers after how many ms readers, who ask for all at once, have got them. */
export async function changeOf(served: Served, ids: readonly number[]): Promise<number> {
  const mark = newText("Bench line");
  const records = await edited(served, ids, () => ({ tagline: mark }));
  const startedMs = performance.now();
  const reads = records.map(async ({ slug }) => {
    const url = `${served.url}/api/nonprofits/${slug}`;
    while (!(await (await fetch(url)).text()).includes(mark)) {
      if (performance.now() - startedMs > 30_000) throw new Error(`${url} did not show the change`);
    }
  });
  await Promise.all(reads);
  return performance.now() - startedMs;
}

/** Readers and a writer that go on meanwhile. */
export function disturb(bench: Directory) {
  let isGoing = true;
  let [reads, writes] = [0, 0];
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
      await edited(bench, [anyId(bench)], () => ({ description: newText("Background") }));
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
