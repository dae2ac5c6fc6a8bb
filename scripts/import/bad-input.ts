/** Input that cannot be taken in: the message names the file and, where there is one, the line. */
export class BadInput extends Error {
  override name = "BadInput";

  constructor(file: string, line: number | null, problem: string) {
    super(line === null ? `${file}: ${problem}` : `${file}, line ${line}: ${problem}`);
  }
}
