/** How much longer than its work long work rests. */
const restsPerWork = 2;

/** Long work rests at each call, for longer than it has worked since the last one: those beside it come first. */
export function openRests(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    await Bun.sleep((performance.now() - sinceMs) * restsPerWork);
    sinceMs = performance.now();
  };
}
