const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** "30d", "12h", "45m" before now, or an ISO 8601 date or instant (UTC); milliseconds since 1970, null for neither. */
export function sinceFrom(text: string, now: Date): number | null {
  const [, count, unit] = /^(\d{1,5})([dhm])$/.exec(text.trim()) ?? [];
  if (count !== undefined)
    return now.getTime() - Number(count) * unitMs[unit as keyof typeof unitMs];
  if (!/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?$/.test(text.trim())) return null;
  const instant = text.trim().replace(/(?<=T[\d:.]+)$/, "Z");
  const atMs = Date.parse(instant);
  return Number.isNaN(atMs) ? null : atMs;
}
