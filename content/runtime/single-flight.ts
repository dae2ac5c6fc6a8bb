const flights = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Does work once for all calls under one key of an object that come while it runs: a thousand calls are one. */
export function singleFlight<Value>(
  of: object,
  key: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const running = flights.get(of) ?? new Map<string, Promise<unknown>>();
  flights.set(of, running);
  const known = running.get(key);
  if (known !== undefined) return known as Promise<Value>;
  const call = work().finally(() => running.delete(key));
  running.set(key, call);
  return call;
}
