/** How much longer than its work long work rests. */
const restsPerWork = 3;
/** What took longer waited for something else, a bucket for example. */
const restMaxMs = 100;

/** Long work rests at each call, for longer than it has worked since the last one but a tenth of a second at most: those beside it come first. */
export function openRests(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    await Bun.sleep(Math.min((performance.now() - sinceMs) * restsPerWork, restMaxMs));
    sinceMs = performance.now();
  };
}
