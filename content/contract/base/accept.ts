/** More names than any client sends. */
const namesMax = 50;

/** The names in an Accept or Accept-Encoding header in lower case, with their qualities. Source: RFC 9110, 12.4.2. */
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

/** Whether Accept-Encoding names an encoding without refusing it ("br;q=0"); a null header accepts none. */
export const acceptsEncoding = (header: string | null, encoding: "br" | "gzip"): boolean =>
  (qualitiesIn(header ?? "").get(encoding) ?? 0) > 0;
