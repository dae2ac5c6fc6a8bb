/** Whether tests that kill, race or generate do it as often as the promises say. */
export const isFull = process.env["ALMONER_FULL_TESTS"] === "1";

/** Says what a test measured, for the table of promises; quiet in an ordinary run. One line. */
export function measured(what: string): void {
  if (process.env["ALMONER_MEASURED"] === "1") process.stdout.write(`measured: ${what}\n`);
}

/** A number as people read it. */
export const shown = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });

/** The value below which 99 % of a sample lies. */
export function p99(sample: readonly number[]): number {
  const sorted = sample.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}
