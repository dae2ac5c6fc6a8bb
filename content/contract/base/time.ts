/** Returns the present instant; rules and tests never ask the machine for it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** An instant as "YYYY-MM-DD HH:MM:SS", always UTC: the form of the older fields. */
export const wireTime = (instant: Date): string =>
  instant.toISOString().slice(0, 19).replace("T", " ");

/** ISO 8601 in UTC to the second, from milliseconds since 1970: the form of the newer fields. */
export const isoTime = (instantMs: number): string =>
  `${new Date(instantMs).toISOString().slice(0, 19)}Z`;

/** The UTC day, "YYYY-MM-DD". */
export const isoDay = (instantMs: number): string => new Date(instantMs).toISOString().slice(0, 10);
