import failures from "#content/editorial/start-failures.json";

/** Why a process cannot start, in two lines for an operator: the problem with its file, and the remedy. */
export class CannotStart extends Error {
  override name = "CannotStart";
  constructor(what: string, remedy: string, options?: ErrorOptions) {
    super(`${what}\n${remedy}`, options);
  }
}

/** Failures that an operator can fix, by the code of the system or SQLite: the state of the file, and the remedy. */
const mendable = failures.map((failure) => ({ ...failure, codes: new RegExp(failure.codes) }));

/** Rethrows a failure of this file, folder or server: as two lines if an operator can fix it, else unchanged. */
export function explainStart(error: unknown, place: string): never {
  for (let at = error; at instanceof Error && !(error instanceof CannotStart); at = at.cause) {
    // Some failures of the driver can be recognised only by their message, and time limits by their name.
    const names = ["code" in at ? String(at.code) : "", at.name, at.message];
    const failure = mendable.find(({ codes }) => names.some((name) => codes.test(name)));
    if (failure === undefined) continue;
    const code = names.find((name) => failure.codes.test(name))?.split(/\W/, 1)[0] ?? "";
    throw new CannotStart(`${place} ${failure.state} (${code}).`, failure.remedy, { cause: error });
  }
  throw error;
}
