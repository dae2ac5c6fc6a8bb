/** Answers true at the first call, and again at the first one after each `everyMs`: for log lines that would repeat. */
export function atMostEvery(everyMs: number): () => boolean {
  let lastMs = -Infinity;
  return () => {
    const nowMs = performance.now();
    if (nowMs - lastMs < everyMs) return false;
    lastMs = nowMs;
    return true;
  };
}
