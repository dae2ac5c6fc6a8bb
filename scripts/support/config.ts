import { BadSetting, type Config, readConfig, unknownSettings } from "#api/config.ts";
import { closeDataFolder } from "#api/secrets.ts";

/**
 * Reads the settings for a command; a bad one ends the process with a message that names it. Closes the data folder to
 * others, unless the command `opens` nothing in it but to look.
 */
export function configOrExit({ opens = true } = {}): Config {
  try {
    for (const name of unknownSettings(process.env)) {
      console.error(
        `${name} is not a setting and is ignored. docs/settings.md lists the settings.`,
      );
    }
    const config = readConfig(process.env);
    const closed = opens ? closeDataFolder(config) : null;
    if (closed !== null) console.error(closed);
    return config;
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    return stopWith(error.message, 2);
  }
}

/** Work that may find a setting bad once store and chain are open: its message ends the process. */
export async function orBadSetting<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    return stopWith(error.message, 2);
  }
}

/** Ends the process with a message; expected failures of commands come through here. */
export function stopWith(message: string, code = 1): never {
  console.error(message);
  process.exit(code);
}

/** A signal that fires on Ctrl-C and SIGTERM, once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
