import { within } from "./with-timeout.ts";

type Running = WeakMap<object, Map<string, Promise<unknown>>>;

const shared: Running = new WeakMap();
const lines: Running = new WeakMap();

/** Does work once for all who ask for it at the same time: a thousand calls under one key are one. */
export function once<Value>(of: object, key: string, work: () => Promise<Value>): Promise<Value> {
  const running = mapOf(shared, of);
  const known = running.get(key);
  if (known !== undefined) return known as Promise<Value>;
  const call = work().finally(() => running.delete(key));
  running.set(key, call);
  return call;
}

/** Does work when all that came before it under its key has ended. Null when that takes too long: then it is not done. */
export async function inTurn<Value>(
  of: object,
  { key, waitMs }: { key: string; waitMs: number },
  work: () => Promise<Value>,
): Promise<Value | null> {
  const line = mapOf(lines, of);
  const before = line.get(key) ?? Promise.resolve();
  const mine = Promise.withResolvers<void>();
  const end = before.then(() => mine.promise);
  line.set(key, end);
  try {
    const isMyTurn = await within(
      before.then(() => true),
      waitMs,
    );
    return isMyTurn === null ? null : await work();
  } finally {
    mine.resolve();
    void end.then(() => line.get(key) === end && line.delete(key));
  }
}

function mapOf(running: Running, of: object): Map<string, Promise<unknown>> {
  const known = running.get(of) ?? new Map<string, Promise<unknown>>();
  running.set(of, known);
  return known;
}
