/** Waits until something holds, at most two minutes, for a busy machine; throws what it was waiting for. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await Bun.sleep(20);
  }
}
