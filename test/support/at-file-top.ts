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

/** An empty folder, for a test, or with `forEachTest` for each: `folder("a")` is a place in it. */
export function aFolder() {
  const path = mkdtempSync(join(tmpdir(), "almoner-test-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  const placeIn = (...names: string[]): string => join(path, ...names);
  return Object.assign(placeIn, { close: remove, [Symbol.dispose]: remove });
}

/** An empty folder, at the top of a file of tests; it is removed after them. */
export const theFolder = (): string => closeAfterFile(aFolder())();

/**
 * What `make` gives between two hooks, under a name that can be written before. It is read, called and spread like the thing
 * itself: whatever is done to the name is done to what was made. Throws before that.
 */
function madeBetween<Made extends Closable>(
  before: typeof beforeAll,
  after: typeof afterAll,
  make: () => Made | Promise<Made>,
): Made {
  let made: Made | undefined;
  before(async () => {
    made = await make();
  });
  after(() => close(made));
  type Trap = (...inputs: unknown[]) => unknown;
  const everyTrap = new Proxy<ProxyHandler<Made>>(
    {},
    {
      get:
        (_, name) =>
        (_target: unknown, ...inputs: unknown[]) => {
          if (made === undefined) throw new Error("used before the hook that makes it");
          return (Reflect[name as keyof typeof Reflect] as Trap)(made, ...inputs);
        },
    },
  );
  // Only a proxy of a function can be called.
  const callable: unknown = () => {};
  return new Proxy(callable as Made, everyTrap);
}

/** What each test of a file, or of a part of it, has of its own. */
export const forEachTest = <Made extends Closable>(make: () => Made | Promise<Made>): Made =>
  madeBetween(beforeEach, afterEach, make);

/** What the tests of a part of a file share. */
export const forTests = <Made extends Closable>(make: () => Made | Promise<Made>): Made =>
  madeBetween(beforeAll, afterAll, make);
