/** A text, or its plural forms by their names in CLDR ("one", "other"). `{name}` is where a value stands. */
export type Pattern = string | Readonly<Record<string, string>>;

export type Values = Readonly<Record<string, string | number>>;

/** How a language writes numbers, and which plural form goes with one. */
type Forms = { number: (value: number) => string; plural: (count: number) => string };

/** The text with its values; of plural forms the one that `count` asks for. Throws for a value that is not given. */
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
    // An abbreviation ends the sentence, too: "EE. UU." and no second stop.
    const isStopped = valueText.endsWith(".") && tail?.startsWith(".");
    return filledText + valueText + (isStopped ? tail?.slice(1) : tail);
  }, start ?? "");
}
