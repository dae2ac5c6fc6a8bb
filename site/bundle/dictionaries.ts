import type { Database } from "bun:sqlite";

/** What documents of one kind have in common. */
type Dictionary = { id: number; body: Uint8Array };

/** Twice as much makes documents a fifth smaller and takes a third longer (decision 01). */
const dictionaryBytes = 16_384;
/** Fewer documents of a kind are not worth one. */
const samplesLeast = 8;

/** What kind of document lies there: its folder and its ending. */
const kindOf = (path: string): string => path.replace(/[^/]*?(?=(?:\.[a-z0-9]+)?$)/, "*");

/**
 * The dictionaries by which documents are compressed, one for each kind of document, kept in the manifest. One that is
 * replaced stays, for older documents are read by it.
 */
export function openDictionaries(db: Database) {
  const reading = db.query<Dictionary, [number]>("SELECT id, body FROM dictionaries WHERE id = ?");
  const newest = db.query<Dictionary & { kind: string }, []>(
    "SELECT max(id) AS id, kind, body FROM dictionaries GROUP BY kind",
  );
  const bodies = new Map<number, Uint8Array>();
  let byKind: Map<string, Dictionary> | null = null;
  return {
    /** Null for 0, and for one that is gone. */
    byId: (id: number): Uint8Array | null => {
      const body = bodies.get(id) ?? (id === 0 ? null : (reading.get(id)?.body ?? null));
      if (body !== null) bodies.set(id, body);
      return body;
    },
    newestFor: (path: string): Dictionary | null => {
      byKind ??= new Map(newest.all().map((dictionary) => [dictionary.kind, dictionary]));
      return byKind.get(kindOf(path)) ?? null;
    },
    /** Makes new ones of documents like those that will come. */
    learn: (samples: readonly { path: string; body: Uint8Array }[]): void => {
      const adding = db.query("INSERT INTO dictionaries (kind, body) VALUES (?, ?)");
      const learning = db.transaction(() => {
        for (const [kind, alike] of Map.groupBy(samples, ({ path }) => kindOf(path))) {
          if (alike.length < samplesLeast) continue;
          const whole = Buffer.concat(alike.map(({ body }) => body));
          adding.run(kind, whole.subarray(0, dictionaryBytes));
        }
      });
      learning.immediate();
      byKind = null;
    },
  };
}
