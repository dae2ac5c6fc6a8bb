/** Replaces names in braces by values; a name without a value stays. */
export const fill = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** `fill` for the `detail` of a problem. */
export const fillDetail = <Refusal extends { detail: string }>(
  problem: Refusal,
  values: Readonly<Record<string, unknown>>,
): Refusal => ({ ...problem, detail: fill(problem.detail, values) });
