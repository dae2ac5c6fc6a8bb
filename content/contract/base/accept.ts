/** More names than any client sends. */
const namesMax = 50;

/** What a header Accept or Accept-Encoding names, in small letters, with its quality. Source: RFC 9110, 12.4.2. */
export function qualitiesIn(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().replaceAll(/\s/g, "").split(",", namesMax)) {
    const [name = "", ...parameters] = part.split(";");
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    if (!qualities.has(name)) qualities.set(name, Number(quality) || 0);
  }
  return qualities;
}

/** Shorter files and answers hardly shrink, so they are sent as they are. */
export const compressFromBytes = 1_024;

/** Whether the header Accept-Encoding names an encoding without refusing it, as "br;q=0" does; null when it was not sent. */
export const acceptsEncoding = (header: string | null, encoding: "br" | "gzip"): boolean =>
  (qualitiesIn(header ?? "").get(encoding) ?? 0) > 0;
