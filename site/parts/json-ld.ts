const escapes: Record<string, string> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** A value as JSON that can stand in a script element: no text in it can end the element or be taken for markup. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? "");

/** The schema.org view of a page that is no profile. */
export const pageJsonLd = (type: string, url: string, name: string, description: string): string =>
  scriptJson({ "@context": "https://schema.org", "@type": type, name, url, description });
