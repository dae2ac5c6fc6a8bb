import { CannotStart, explainStart } from "#content/runtime/start-error.ts";
import { type OpenOptions, openStore, type Store } from "#content/store/open.ts";
import { BadSetting, type Config, readConfig, unknownSettings } from "#api/config.ts";
import { openLog } from "#api/log.ts";
import { checkSigningKey, closeDataFolder, signingKeyOf } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";

/**
 * Reads the settings for a command; bad ones end it (BadSetting, see runCommand). Closes the data folder to other users,
 * unless the command only reads it (`opens` is false).
 */
export function configOrExit({ opens = true } = {}): Config {
  const config = readConfig(process.env);
  const log = openLog(config);
  for (const name of unknownSettings(process.env))
    log.warn({ name }, "not a setting, ignored; docs/settings.md lists the settings");
  const closed = opens ? closeDataFolder(config) : null;
  if (closed !== null) log.warn(closed);
  return config;
}

/**
 * The settings of a process that listens. A port of 0 becomes a free one first, because pages and addresses name the port,
 * and a publisher beside the service reads the same variable.
 */
export function listeningConfigOrExit(): Config {
  if (process.env["ALMONER_PORT"] === "0") process.env["ALMONER_PORT"] = String(freePort(0));
  return configOrExit();
}

/** The wanted port, or a free one if it is taken. */
export function freePort(wanted: number): number {
  const listenOn = (port: number) =>
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
  let probe: ReturnType<typeof listenOn>;
  try {
    probe = listenOn(wanted);
  } catch {
    probe = listenOn(0);
  }
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** Opens the store of the settings. Does not create a missing one, whose name is probably mistyped. */
export const openExistingStore = (
  { databaseUrl: url, databaseToken: authToken }: Config,
  options: Pick<OpenOptions, "busyWaitMs" | "migrated"> = {},
): Promise<Store> => openStore({ url, authToken, create: false, ...options });

/** The signing key, after checking that the directory signed with it before. */
export async function checkedSigningKey(config: Config): Promise<string> {
  using store = await openExistingStore(config);
  await checkSigningKey(config, store, systemClock());
  return signingKeyOf(config);
}

/**
 * The message and exit code for a failure that an operator can fix: 2 for a bad setting, 1 for a file, a disk or a port;
 * null for a bug, which is shown with its stack.
 */
export function wordsOf(error: unknown): { message: string; code: number } | null {
  if (error instanceof BadSetting) return { message: error.message, code: 2 };
  const explained = explanationOf(error, placeIn(error));
  return explained instanceof CannotStart ? { message: explained.message, code: 1 } : null;
}

/**
 * Explains to an operator a failure with the file that the error names, or else with `place`: sentences, without a stack.
 */
export function reasonOf(error: unknown, place: string): string {
  const explained = explanationOf(error, pathIn(error) ?? place);
  const message = explained instanceof Error ? explained.message : String(explained);
  return (message || String(error)).replace(/\.?$/, ".");
}

/** What explainStart throws; the failure itself if there is no place to name. */
function explanationOf(error: unknown, place: string | null): unknown {
  try {
    return place === null ? error : explainStart(error, place);
  } catch (explained) {
    return explained;
  }
}

/** The path that a failure of the system names; null for another failure. */
const pathIn = (error: unknown): string | null =>
  error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : null;

/** What a failure of the system or of SQLite is about. SQLite names no file, nor does a disk that became full. */
function placeIn(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error ? String(error.code) : "";
  const database = code.startsWith("SQLITE_")
    ? `A database in ${readConfig(process.env).dataDir}`
    : null;
  const file = /^(?:ENOSPC|EDQUOT|EIO)$/.test(code) ? "A file" : null;
  return pathIn(error) ?? database ?? file ?? placeIn(error.cause);
}

/** Ends the process with a message, or with an error and its stack. Used for expected failures of commands. */
export function stopWith(message: unknown, code = 1): never {
  console.error(message);
  process.exit(code);
}

/** A signal that fires once, on Ctrl-C or SIGTERM. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
