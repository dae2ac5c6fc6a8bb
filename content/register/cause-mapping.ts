import { causeName, CauseId } from "#content/contract/cause.ts";

/** Rows of the tables in content/editorial/mapping, as text. */
export type MappingTables = {
  ntee: readonly { ntee_prefix: string; cause_id: string; role: string; confidence: string }[];
  activity: readonly { activity_code: string; ntee_first: string }[];
  keywords: readonly { cause_id: string; regex: string }[];
  ukcat: readonly { code: string; cause_id: string; role: string }[];
  icnptso: readonly { code: string; cause_id: string; role: string }[];
  acnc: readonly { column: string; cause_id: string; role: string }[];
};

/** How an organisation came by its causes, for counting coverage. */
export type MappedBy = "code" | "activity" | "name" | "none";
export type Mapped = {
  causes: string[];
  by: MappedBy;
  /** What chose the causes, in words: "IRS NTEE code K31 → Food banks". Empty for none. */
  rule: string;
};

export type CauseMapping = ReturnType<typeof causeMapping>;

/** More than these blur what an organisation is for. */
const causesMax = 4;

/** Prepares the tables once. Throws when a table names a cause that does not exist. */
export function causeMapping(tables: MappingTables) {
  const ntee = nteeTable(tables.ntee);
  const activity = new Map(tables.activity.map((row) => [row.activity_code, row.ntee_first]));
  const byName = nameTable(tables.keywords, tables.ntee);
  const ukcat = codeTable(tables.ukcat);
  const icnptso = codeTable(tables.icnptso);
  const acnc = tables.acnc.map((row) => ({ ...row, cause_id: CauseId.parse(row.cause_id) }));
  const complete = (coded: readonly SourcedCause[], by: MappedBy, name: string): Mapped => {
    if (coded.length > 0) return mapped([...coded, ...byName.untold(name)], by);
    const named = byName.all(name);
    return mapped(named, named.length > 0 ? "name" : "none");
  };
  return {
    /** By NTEE code, then by the older ACTIVITY codes, then by words of the name. */
    american: (codes: { ntee: string; activity: string; name: string }): Mapped => {
      const { ntee: code, activity: old, name } = codes;
      const coded = ntee(code, `IRS NTEE code ${code}`);
      if (coded.length > 0) return complete(coded, "code", name);
      const olds = activityCodes(old, activity).flatMap((one) =>
        ntee(activity.get(one) ?? "", `IRS activity code ${one}`),
      );
      return complete(olds, "activity", name);
    },
    /** By UK Charity Activity Tags and the ICNPTSO class, then by words of the name. */
    british: (codes: { ukcat: readonly string[]; icnptso: string; name: string }): Mapped => {
      const { ukcat: tags, icnptso: kind, name } = codes;
      const found = [
        ...chosenBy(icnptso.get(kind), `ICNPTSO class ${kind}`),
        ...tags.flatMap((tag) => chosenBy(ukcat.get(tag), `UK Charity Activity Tag ${tag}`)),
      ];
      return complete(primaryFirst(found), "code", name);
    },
    /** By the purposes and beneficiaries that the Australian register marks, then by words of the name. */
    australian: ({ marked, name }: { marked: ReadonlySet<string>; name: string }): Mapped => {
      const found = acnc
        .filter(({ column }) => marked.has(column))
        .flatMap((row) => chosenBy([row], `ACNC column ${row.column}`));
      // A charity that marks nearly everything says nothing with its beneficiaries.
      const purposes = marked.size > 14 ? found.filter(({ role }) => role === "primary") : found;
      return complete(primaryFirst(purposes), "code", name);
    },
  };
}

type Coded = { cause_id: string; role: string };

/** A cause, and what chose it. */
type SourcedCause = Coded & { from: string };

const chosenBy = (found: readonly Coded[] = [], from: string): SourcedCause[] =>
  found.map(({ cause_id, role }) => ({ cause_id, role, from }));

/** The first causes, each once, and for each code or table what came of it. */
function mapped(chosen: readonly SourcedCause[], by: MappedBy): Mapped {
  const from = new Map<string, string>();
  for (const one of chosen) {
    if (from.size < causesMax && !from.has(one.cause_id)) from.set(one.cause_id, one.from);
  }
  const names = new Map<string, string>();
  for (const [cause, code] of from) {
    const earlier = names.get(code);
    names.set(code, `${earlier === undefined ? "" : `${earlier}, `}${causeName(cause)}`);
  }
  const rules = [...names].map(([code, causes]) => `${code} → ${causes}`);
  return { causes: [...from.keys()], by, rule: rules.join("; ") };
}

const primaryFirst = <Found extends Coded>(found: readonly Found[]): Found[] => [
  ...found.filter((one) => one.role === "primary"),
  ...found.filter((one) => one.role !== "primary"),
];

/** The longest prefix wins: 3, then 2, then 1 characters. A prefix without a cause means deliberately none. */
function nteeTable(rows: MappingTables["ntee"]): (code: string, from: string) => SourcedCause[] {
  const table = new Map<string, Coded[]>();
  for (const { ntee_prefix, cause_id, role, confidence } of rows) {
    const found = table.get(ntee_prefix) ?? [];
    table.set(ntee_prefix, found);
    if (cause_id === "" || (role === "secondary" && confidence === "low")) continue;
    found.push({ cause_id: CauseId.parse(cause_id), role });
  }
  return (code, from) => {
    if (!/^[A-Z]/.test(code)) return [];
    const length = [3, 2, 1].find((size) => table.has(code.slice(0, size))) ?? 0;
    return primaryFirst(chosenBy(table.get(code.slice(0, length)), from));
  };
}

/** Members of a group inherit the parent's code: the whole nine digits first, then three codes of three digits. */
function activityCodes(text: string, known: ReadonlyMap<string, string>): string[] {
  if (known.has(text)) return [text];
  return [text.slice(0, 3), text.slice(3, 6), text.slice(6, 9)].filter(
    (code) => code !== "" && code !== "000",
  );
}

function codeTable(rows: readonly (Coded & { code: string })[]): Map<string, Coded[]> {
  const table = new Map<string, Coded[]>();
  for (const { code, cause_id, role } of rows) {
    const found = table.get(code) ?? [];
    table.set(code, [...found, { cause_id: CauseId.parse(cause_id), role }]);
  }
  return table;
}

/** `all`: every cause whose words occur in a name. `untold`: only causes that no code has as its primary one. */
function nameTable(keywords: MappingTables["keywords"], ntee: MappingTables["ntee"]) {
  const told = new Set(ntee.filter((row) => row.role === "primary").map((row) => row.cause_id));
  const patterns = keywords.map((row) => ({
    cause: CauseId.parse(row.cause_id),
    pattern: new RegExp(row.regex, "i"),
  }));
  const find = (among: typeof patterns) => (name: string) =>
    among
      .filter(({ pattern }) => pattern.test(name))
      .map(({ cause }) => ({ cause_id: cause, role: "primary", from: "words of the name" }));
  return { all: find(patterns), untold: find(patterns.filter(({ cause }) => !told.has(cause))) };
}
