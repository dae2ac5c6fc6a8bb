import failures from "#content/editorial/start-failures.json";

/** Why a process cannot start, in two lines for an operator: what is wrong, with the file, and what to do about it. */
export class CannotStart extends Error {
  override name = "CannotStart";
  constructor(what: string, remedy: string, options?: ErrorOptions) {
    super(`${what}\n${remedy}`, options);
  }
}

/** What an operator can mend, by the code of the system or of SQLite: what is said of the file, and what helps. */
const mendable = failures.map((failure) => ({ ...failure, codes: new RegExp(failure.codes) }));

/**
 * Throws a failure on this file, folder or server again: in two lines when it is one that an operator can mend, else as it
 * is.
 */
export function explainStart(error: unknown, place: string): never {
  for (let at = error; at instanceof Error && !(error instanceof CannotStart); at = at.cause) {
    // The driver names some failures in their message alone, and time limits are known by their name.
    const names = ["code" in at ? String(at.code) : "", at.name, at.message];
    const failure = mendable.find(({ codes }) => names.some((name) => codes.test(name)));
    if (failure === undefined) continue;
    const code = names.find((name) => failure.codes.test(name))?.split(/\W/, 1)[0] ?? "";
    throw new CannotStart(`${place} ${failure.state} (${code}).`, failure.remedy, { cause: error });
  }
  throw error;
}
