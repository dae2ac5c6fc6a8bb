/** A text with these values where their names stand in braces; a name without a value stays as it is. */
export const fill = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** What is answered, its words with these values. */
export const fillDetail = <One extends { detail: string }>(
  problem: One,
  values: Readonly<Record<string, unknown>>,
): One => ({ ...problem, detail: fill(problem.detail, values) });
