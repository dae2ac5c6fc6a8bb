import type { Queryable } from "#content/store/open.ts";

/** A small generator of numbers, so that a bench asks the same each time. Source: Park and Miller. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * A mixed list of queries as people and agents send them, made of the directory's own names and missions, all
 * different: beginnings of names, runs of words of a mission, single words, half-typed words; some with filters.
 */
export async function mixedQueries(
  store: Queryable,
  { count, seed }: { count: number; seed: number },
): Promise<string[]> {
  const random = numbers(seed);
  const { rows } = await store.raw.execute({
    sql: `SELECT name, coalesce(mission, description, name) AS text, country_code
          FROM nonprofits
          WHERE id % ? = 0 AND status <> 'withdrawn'
          LIMIT 20000`,
    args: [Math.max(1, Math.floor((await sizeOf(store)) / 10_000))],
  });
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const queries = new Set<string>();
  for (let tried = 0; queries.size < count && tried < count * 20; tried++) {
    const { name, text, country_code } = pick(rows);
    const words = String(text).split(/\s+/).slice(0, 60);
    const params = new URLSearchParams({ q: wordsOf(String(name).split(/\s+/), words, random) });
    if (random() < 0.15) params.set("cause", pick(["education", "health", "environment"]));
    if (random() < 0.15) params.set("country", String(country_code ?? "US"));
    queries.add(params.toString());
  }
  return [...queries];
}

function wordsOf(name: string[], text: string[], random: () => number): string {
  const kind = random();
  if (kind < 0.4) return name.slice(0, 2 + Math.floor(random() * 2)).join(" ");
  const at = Math.floor(random() * text.length);
  if (kind < 0.75) return text.slice(at, at + 2 + Math.floor(random() * 3)).join(" ");
  const word = text[at] ?? "";
  return kind < 0.9 ? word : word.slice(0, 2 + Math.floor(random() * 3));
}

async function sizeOf(store: Queryable): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: "SELECT max(id) AS size FROM nonprofits",
    args: [],
  });
  return Number(rows[0]?.["size"] ?? 1);
}
