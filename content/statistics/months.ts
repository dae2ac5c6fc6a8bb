/** Charts by month show at most so many. */
const monthsMax = 24;

/** The months that end with that of a day, as YYYY-MM, the oldest first. */
export const monthsTo = (day: string): string[] =>
  Array.from({ length: monthsMax }, (_, at) =>
    new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - monthsMax + at, 1))
      .toISOString()
      .slice(0, 7),
  );

/** Charts by month show at least so many, or they would say nothing of time. */
const monthsMin = 6;

/** Rows by month from the first that holds anything; none when no one does. */
export function fromFirst<Row>(rows: readonly Row[], holds: (row: Row) => boolean): Row[] {
  const first = rows.findIndex(holds);
  return first === -1 ? [] : rows.slice(Math.min(first, rows.length - monthsMin));
}

/** How many of a hundred, to a tenth; 0 of none. */
export const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10;

/** How many came in each of the months, and how many there were at its end: those of earlier months, too. */
export function growthOf(came: ReadonlyMap<string, number>, months: readonly string[]) {
  const [first = ""] = months;
  let nonprofits = 0;
  for (const [month, number] of came) if (month < first) nonprofits += number;
  return months.map((month) => {
    const added = came.get(month) ?? 0;
    nonprofits += added;
    return { month, added, nonprofits };
  });
}
