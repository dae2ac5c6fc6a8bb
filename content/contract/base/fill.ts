/** A text with these values where their names stand in braces; a name without a value stays as it is. */
export const fill = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** What is answered, its words with these values. */
export const fillDetail = <Refusal extends { detail: string }>(
  problem: Refusal,
  values: Readonly<Record<string, unknown>>,
): Refusal => ({ ...problem, detail: fill(problem.detail, values) });
