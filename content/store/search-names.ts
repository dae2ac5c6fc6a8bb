import { fold } from "#content/rules/text.ts";
import type { Asked } from "./records.ts";

/** So many matches are looked at, the foremost by impact. */
const lookedAtMax = 120;

/**
 * Places of profiles that have all of the words in their name, for standing in front of all others: first those whose
 * name begins with the text as it was typed, then the shorter names. bm25 measures a profile by the length of all its
 * texts, and so cannot tell that "Youth Outreach" is more exactly what was asked for than a longer name. `match` is a
 * query of FTS5 on names.
 */
export async function namedFirst(
  asked: Asked,
  match: string,
  text: string,
  limit: number,
): Promise<number[]> {
  const { rows } = await asked.execute({
    sql: `SELECT s.rowid AS place, n.name
          FROM search_index AS s
          CROSS JOIN nonprofits AS n ON n.id = (s.rowid & 4294967295)
          WHERE search_index MATCH ?
          ORDER BY s.rowid
          LIMIT ?`,
    args: [match, lookedAtMax],
  });
  const typed = fold(text);
  const named = rows.map((row) => {
    const name = fold(String(row["name"]));
    const begins = name.startsWith(typed) ? 0 : 1;
    return { place: Number(row["place"]), begins, length: name.length };
  });
  return named
    .sort((a, b) => a.begins - b.begins || a.length - b.length || a.place - b.place)
    .slice(0, limit)
    .map(({ place }) => place);
}
