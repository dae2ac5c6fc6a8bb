/** The value below which this share of the sample lies; `share` from 0 to 1. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** One line of a printed table: what was asked for stands beside what was measured. */
export type Figure = { what: string; measured: string; asked: string; met: boolean | null };

/** Prints figures as a table, or as JSON lines with `json`. */
export function printFigures(title: string, figures: readonly Figure[], json: boolean): void {
  if (json) {
    console.log(JSON.stringify({ title, figures }));
    return;
  }
  const width = Math.max(...figures.map(({ what }) => what.length));
  const measuredWidth = Math.max(...figures.map(({ measured }) => measured.length));
  console.log(`\n${title}`);
  for (const { what, measured, asked, met } of figures) {
    const verdict = met === null ? "" : met ? "met" : "NOT MET";
    console.log(
      `  ${what.padEnd(width)}  ${measured.padStart(measuredWidth)}  (${asked}) ${verdict}`,
    );
  }
}

/** Processor time a process has used so far, in ms: what it costs, however busy the machine is with other work. */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const [, , , , , , , , , , , user = "0", system = "0"] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ");
  return (Number(user) + Number(system)) * 10;
}

/** Most memory a process held at once, in MB; null when it is gone or the system does not tell. */
export async function peakMemoryMb(pid: number): Promise<number | null> {
  const status = await Bun.file(`/proc/${pid}/status`)
    .text()
    .catch(() => "");
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1_024;
}
