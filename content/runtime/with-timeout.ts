/** What a promise gives within a time, null when it takes longer. What it gives later is no one's. */
export function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/** How much longer something may take. */
export type Deadline = { leftMs: () => number };

export function deadlineIn(ms: number): Deadline {
  const endMs = performance.now() + ms;
  return { leftMs: () => Math.max(0, endMs - performance.now()) };
}
