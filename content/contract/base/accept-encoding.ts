/** More names than any client sends. */
const namesMax = 50;

/** Whether the header Accept-Encoding names an encoding without refusing it, as "br;q=0" does; null when it was not sent. */
export const acceptsEncoding = (header: string | null, encoding: "br" | "gzip"): boolean =>
  header !== null &&
  header
    .toLowerCase()
    .split(",", namesMax)
    .some((part) => {
      const [name = "", ...parameters] = part.split(";");
      if (name.trim() !== encoding) return false;
      return !parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(parameter));
    });
