/** A text, or its plural forms by CLDR category ("one", "other"). `{name}` is replaced by a value. */
export type Pattern = string | Readonly<Record<string, string>>;

export type Values = Readonly<Record<string, string | number>>;

/** How a language writes numbers and chooses plural forms. */
type Forms = { number: (value: number) => string; plural: (count: number) => string };

/** Fills in a text, using the plural form for `count`. Throws if a value is missing. */
export function filled(pattern: Pattern, values: Values, { number, plural }: Forms): string {
  const text =
    typeof pattern === "string"
      ? pattern
      : (pattern[plural(Number(values["count"]))] ?? pattern["other"] ?? "");
  const [start, ...parts] = text.split("{");
  return parts.reduce((filledText, part) => {
    const [name = "", tail] = part.split("}");
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new Error(`no ${name} in "${text}"`);
    const valueText = typeof value === "number" ? number(value) : value;
    // Do not add a second stop after an abbreviation: "EE. UU." already ends the sentence.
    const isStopped = valueText.endsWith(".") && tail?.startsWith(".");
    return filledText + valueText + (isStopped ? tail?.slice(1) : tail);
  }, start ?? "");
}
