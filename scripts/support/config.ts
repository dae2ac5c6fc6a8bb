import { CannotStart, explainStart } from "#content/runtime/start-error.ts";
import { type OpenOptions, openStore, type Store } from "#content/store/open.ts";
import { BadSetting, type Config, readConfig, unknownSettings } from "#api/config.ts";
import { openLog } from "#api/log.ts";
import { checkSigningKey, closeDataFolder, signingKeyOf } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";

/**
 * Reads the settings for a command; one that cannot be used ends it (BadSetting, see runCommand). Closes the data folder to others, unless the command `opens` nothing
 * in it but to look.
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

/** Opens the store that the settings name. One that is missing is not made: the name is more likely mistyped. */
export const openExistingStore = (
  { databaseUrl: url, databaseToken: authToken }: Config,
  options: Pick<OpenOptions, "busyWaitMs" | "migrated"> = {},
): Promise<Store> => openStore({ url, authToken, create: false, ...options });

/** The signing key, once it is seen to be the one that the directory signed with before. */
export async function checkedSigningKey(config: Config): Promise<string> {
  using store = await openExistingStore(config);
  await checkSigningKey(config, store, systemClock());
  return signingKeyOf(config);
}

/**
 * The words and the exit code for a failure that an operator can mend: 2 for a bad setting, 1 for a file, a disk or a
 * port; null for a bug, which is shown with its stack.
 */
export function wordsOf(error: unknown): { message: string; code: number } | null {
  if (error instanceof BadSetting) return { message: error.message, code: 2 };
  return error instanceof CannotStart ? { message: error.message, code: 1 } : null;
}

/**
 * What to tell an operator of a failure on the file that the system names, else on this place: sentences, without a stack.
 */
export function reasonOf(error: unknown, place: string): string {
  try {
    const named = error instanceof Error && "path" in error && typeof error.path === "string";
    return explainStart(error, named ? String(error.path) : place);
  } catch (explained) {
    const message = explained instanceof Error ? explained.message : String(explained);
    return (message || String(error)).replace(/\.?$/, ".");
  }
}

/** Ends the process with a message, or with an error and its stack; expected failures of commands come through here. */
export function stopWith(message: unknown, code = 1): never {
  console.error(message);
  process.exit(code);
}

/** A signal that fires on Ctrl-C and SIGTERM, once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
