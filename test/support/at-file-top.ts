import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Closable = { close: () => unknown } | { stop: () => unknown };

const close = (one: Closable | undefined): unknown => {
  if (one === undefined) return undefined;
  return "close" in one ? one.close() : one.stop();
};

/** What the present file of tests has to close. */
const closables: Closable[] = [];

async function closeAll(): Promise<void> {
  // What came last may need what was there before.
  for (const one of closables.splice(0).toReversed()) await close(one);
}

function closeAfterFile<Made extends Closable>(made: Made): Made {
  if (closables.length === 0) afterAll(closeAll);
  closables.push(made);
  return made;
}

/** A maker for the top of a file of tests: what it makes is closed after them. */
export const forFile =
  <Inputs extends unknown[], Made extends Closable>(make: (...inputs: Inputs) => Promise<Made>) =>
  async (...inputs: Inputs): Promise<Made> =>
    closeAfterFile(await make(...inputs));

/** An empty folder, at the top of a file of tests; it is removed after them. */
export function theFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "almoner-test-"));
  closeAfterFile({ close: () => rmSync(folder, { recursive: true, force: true }) });
  return folder;
}

/** What `present` gives, under a name that stands for it before it is there. */
const standIn = <Made extends object>(present: () => Made | undefined): Made =>
  new Proxy({} as Made, { get: (_, name) => Reflect.get(present() ?? {}, name) as unknown });

/** What each test of a file, or of a part of it, has of its own: made before the test and closed after it. */
export function forEachTest<Made extends Closable>(make: () => Made | Promise<Made>): Made {
  let made: Made | undefined;
  beforeEach(async () => {
    made = await make();
  });
  afterEach(() => close(made));
  return standIn(() => made);
}

/** What the tests of a part of a file share: made before the first and closed after the last. */
export function forTests<Made extends Closable>(make: () => Made | Promise<Made>): Made {
  let made: Made | undefined;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(() => close(made));
  return standIn(() => made);
}
