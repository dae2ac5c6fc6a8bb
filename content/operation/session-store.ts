import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** Ends a session of the desk before its time, for all processes; forgets those whose time is over anyway. */
export async function endSession(
  tx: WriteTransaction,
  { id, until, now }: { id: string; until: Date; now: Date },
): Promise<void> {
  await tx.raw.execute({
    sql: "DELETE FROM ended_sessions WHERE until < ?",
    args: [now.getTime()],
  });
  await tx.raw.execute({
    sql: "INSERT INTO ended_sessions (id, until) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
    args: [id, until.getTime()],
  });
}

export async function isEnded(store: Queryable, id: string): Promise<boolean> {
  const { rows } = await store.raw.execute({
    sql: "SELECT 1 FROM ended_sessions WHERE id = ?",
    args: [id],
  });
  return rows.length > 0;
}
