import type { Store } from "#content/store/open.ts";
import { randomOf } from "#scripts/seed/numbers.ts";
import type { Request } from "./load.ts";

export const searchOf = (params: URLSearchParams): Request => ({ path: `/api/search?${params}` });

/**
 * Queries as people and agents send them, made of the directory's own names and missions, all different: beginnings of
 * names, runs of words of a mission, single words, half-typed words; some with filters.
 */
export async function mixedQueries(store: Store, count: number): Promise<Request[]> {
  const { chance, pick, below } = randomOf(7, 0);
  const { rows } = await store.raw.execute(
    `SELECT name, coalesce(mission, description, name) AS text, country_code
     FROM nonprofits
     WHERE id % max(1, (SELECT max(id) FROM nonprofits) / 10000) = 0 AND status <> 'withdrawn'
     LIMIT 20000`,
  );
  const wordsOf = (name: string[], text: string[]): string => {
    if (chance(40)) return name.slice(0, 2 + below(2)).join(" ");
    const at = below(text.length);
    if (chance(60)) return text.slice(at, at + 2 + below(3)).join(" ");
    const word = text[at] ?? "";
    return chance(60) ? word : word.slice(0, 2 + below(3));
  };
  const queries = new Map<string, Request>();
  for (let tried = 0; queries.size < count && tried < count * 20; tried++) {
    const { name, text, country_code } = pick(rows);
    const words = String(text).split(/\s+/).slice(0, 60);
    const params = new URLSearchParams({ q: wordsOf(String(name).split(/\s+/), words) });
    if (chance(15)) params.set("cause", pick(["education", "health", "environment"]));
    if (chance(15)) params.set("country", String(country_code ?? "US"));
    queries.set(params.toString(), searchOf(params));
  }
  return [...queries.values()];
}
