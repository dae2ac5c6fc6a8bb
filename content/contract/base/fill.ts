/** Replaces names in braces by values; a name without a value stays. */
export const fill = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** `fill` for the `detail` of a problem. */
export const fillDetail = <One extends { detail: string }>(
  problem: One,
  values: Readonly<Record<string, unknown>>,
): One => ({ ...problem, detail: fill(problem.detail, values) });
