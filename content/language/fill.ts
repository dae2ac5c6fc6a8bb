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
  let done = "";
  let from = 0;
  for (let open = text.indexOf("{"); open >= 0; open = text.indexOf("{", from)) {
    const close = text.indexOf("}", open);
    const name = text.slice(open + 1, close);
    const value = values[name];
    if (value === undefined) throw new Error(`no ${name} in "${text}"`);
    done += text.slice(from, open) + (typeof value === "number" ? number(value) : value);
    from = close + 1;
  }
  return done + text.slice(from);
}
