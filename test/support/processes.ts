import { createServer } from "node:net";

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

const looksMax = 500;
const lookEveryMs = 20;

/** Waits until something answers HTTP there, at most 10 s. */
export async function untilAnswers(url: string, process: Bun.Subprocess): Promise<void> {
  for (let look = 0; look < looksMax && process.exitCode === null; look++) {
    const answer = await fetch(url, { method: "HEAD", redirect: "manual" }).catch(() => null);
    if (answer !== null) return;
    await Bun.sleep(lookEveryMs);
  }
  throw new Error(`nothing answers at ${url}`);
}
