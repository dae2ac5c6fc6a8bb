/** What a promise gives within a time, null when it takes longer. What it gives later is no one's. */
export function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
