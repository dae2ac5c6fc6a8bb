/** Waits until something holds, at most 20 s; throws what it was waiting for. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await Bun.sleep(20);
  }
}
