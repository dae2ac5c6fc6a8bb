import { causeName, CauseId } from "#content/contract/browse.ts";
import { CauseConfidence } from "#content/contract/nonprofit.ts";
import { ruleWords } from "#content/nonprofit/provenance.ts";

/** Rows of the tables in content/editorial/mapping, as text. */
export type MappingTables = {
  ntee: readonly { ntee_prefix: string; cause_id: string; role: string; confidence: string }[];
  activity: readonly { activity_code: string; ntee_first: string }[];
  keywords: readonly { cause_id: string; regex: string; confidence: string }[];
  ukcat: readonly { code: string; cause_id: string; role: string }[];
  icnptso: readonly { code: string; cause_id: string; role: string }[];
  /** Purposes and beneficiaries in registers. `register`: the name of the set of codes. */
  purposes: readonly Record<"register" | "code" | "cause_id" | "role" | "confidence", string>[];
};

/** What determined an organisation's causes, for counting coverage. */
export type MappedBy = "code" | "activity" | "name" | "none";
export type CauseChoice = {
  causes: string[];
  by: MappedBy;
  /** The rule that chose the causes, and its confidence: "NTEE K31 → Food Security (high)". Empty for none. */
  rule: string;
};

export type CauseMapping = ReturnType<typeof causeMapping>;

/** More causes than this blur what an organisation is for. */
const causesMax = 4;

/** Prepares the tables once. Throws when a table names an unknown cause. */
export function causeMapping(tables: MappingTables) {
  const ntee = nteeTable(tables.ntee);
  const activity = new Map(tables.activity.map((row) => [row.activity_code, row.ntee_first]));
  const byName = nameTable(tables.keywords, tables.ntee);
  const ukcat = codeTable(tables.ukcat);
  const icnptso = codeTable(tables.icnptso);
  const purposes = tables.purposes.map((row) => ({
    ...row,
    cause_id: CauseId.parse(row.cause_id),
    confidence: CauseConfidence.parse(row.confidence),
  }));
  const complete = (coded: readonly SourcedCause[], by: MappedBy, name: string): CauseChoice => {
    if (coded.length > 0) return mapped([...coded, ...byName.untold(name)], by);
    const named = byName.all(name);
    return mapped(named, named.length > 0 ? "name" : "none");
  };
  return {
    /**
     * The foundation code for a church; else and in addition NTEE codes, then the older ACTIVITY codes, then words of the
     * name.
     */
    american: (codes: Record<"foundation" | "ntee" | "activity" | "name", string>): CauseChoice => {
      const { foundation, ntee: code, activity: old, name } = codes;
      const church = foundation === "10" ? chosenBy([ofChurch], "IRS foundation code 10") : [];
      const coded = [...church, ...ntee(code, `NTEE ${code}`)];
      if (coded.length > 0) return complete(coded, "code", name);
      const olds = activityCodes(old, activity).flatMap((activityCode) =>
        ntee(activity.get(activityCode) ?? "", `IRS activity code ${activityCode}`),
      );
      return complete(olds.map(notSure), "activity", name);
    },
    /** UK Charity Activity Tags and the ICNPTSO class, then words of the name. */
    british: (codes: { ukcat: readonly string[]; icnptso: string; name: string }): CauseChoice => {
      const { ukcat: tags, icnptso: kind, name } = codes;
      const nteeCodes = [
        ...chosenBy(icnptso.get(kind), `ICNPTSO class ${kind}`),
        ...tags.flatMap((tag) => chosenBy(ukcat.get(tag), `UK Charity Activity Tag ${tag}`)),
      ];
      return complete(primaryFirst(nteeCodes), "code", name);
    },
    /**
     * The purposes and beneficiaries marked in a register, then words of the name. `codes`: the set of codes. If a charity
     * marks nearly everything (`isBroad`), its beneficiaries are ignored.
     */
    byPurposes: (codes: string, name: string, isMarked: IsMarked, isBroad = false): CauseChoice => {
      const purposeCodes = purposes
        .filter((row) => row.register === codes && isMarked(row.code))
        .filter(({ role }) => !isBroad || role === "primary")
        .flatMap((row) => chosenBy([row], `${codes} ${row.code}`));
      return complete(primaryFirst(purposeCodes), "code", name);
    },
  };
}

type IsMarked = (code: string) => boolean;

type CauseCode = { cause_id: string; role: string; confidence: CauseConfidence };

type SourcedCause = CauseCode & { from: string };

const ofChurch: CauseCode = { cause_id: "religion", role: "primary", confidence: "high" };

/** The IRS gave these codes up in 1995, so they are less certain. */
const notSure = (chosen: SourcedCause): SourcedCause => ({ ...chosen, confidence: "medium" });

const chosenBy = (codes: readonly CauseCode[] = [], from: string): SourcedCause[] =>
  codes.map(({ cause_id, role, confidence }) => ({ cause_id, role, confidence, from }));

/** The first causes, each once, with the result for each code or table. */
function mapped(chosen: readonly SourcedCause[], by: MappedBy): CauseChoice {
  const first = new Map<string, SourcedCause>();
  for (const cause of chosen) {
    if (first.size < causesMax && !first.has(cause.cause_id)) first.set(cause.cause_id, cause);
  }
  const byCode = Map.groupBy(first.values(), ({ from }) => from);
  const rules = [...byCode].map(([code, causes]) =>
    ruleWords(
      code,
      causes.map((cause) => ({ name: causeName(cause.cause_id), confidence: cause.confidence })),
    ),
  );
  return { causes: [...first.keys()], by, rule: rules.join("; ") };
}

const primaryFirst = <Code extends CauseCode>(codes: readonly Code[]): Code[] => [
  ...codes.filter(({ role }) => role === "primary"),
  ...codes.filter(({ role }) => role !== "primary"),
];

/**
 * The longest prefix wins: 3, then 2, then 1 characters. A prefix without a cause, or with a primary cause of low
 * confidence, deliberately maps to none: no cause of ours fits.
 */
function nteeTable(rows: MappingTables["ntee"]): (code: string, from: string) => SourcedCause[] {
  const table = new Map<string, CauseCode[]>();
  for (const [prefix, ofPrefix] of Map.groupBy(rows, (row) => row.ntee_prefix)) {
    const fitsNone = ofPrefix.some((row) => row.role === "primary" && row.confidence === "low");
    table.set(prefix, fitsNone ? [] : ofPrefix.flatMap(sureEnough));
  }
  return (code, from) => {
    if (!/^[A-Z]/.test(code)) return [];
    const length = [3, 2, 1].find((size) => table.has(code.slice(0, size))) ?? 0;
    return primaryFirst(chosenBy(table.get(code.slice(0, length)), from));
  };
}

function sureEnough({ cause_id, role, ...row }: MappingTables["ntee"][number]): CauseCode[] {
  const confidence = CauseConfidence.safeParse(row.confidence).data;
  if (cause_id === "" || confidence === undefined) return [];
  return [{ cause_id: CauseId.parse(cause_id), role, confidence }];
}

/** Members of a group have the parent's code: try the whole nine digits first, then three codes of three digits. */
function activityCodes(text: string, codes: ReadonlyMap<string, string>): string[] {
  if (codes.has(text)) return [text];
  return [text.slice(0, 3), text.slice(3, 6), text.slice(6, 9)].filter(
    (code) => code !== "" && code !== "000",
  );
}

/** Classes and tags that others assigned to charities, by rule and by hand. */
function codeTable(rows: MappingTables["ukcat"]): Map<string, CauseCode[]> {
  const causes = rows.map(({ code, cause_id, role }) => ({
    code,
    role,
    cause_id: CauseId.parse(cause_id),
    confidence: "medium" as const,
  }));
  return Map.groupBy(causes, ({ code }) => code);
}

/** `all`: every cause whose words are in a name. `untold`: only causes that are the primary cause of no code. */
function nameTable(keywords: MappingTables["keywords"], ntee: MappingTables["ntee"]) {
  const primaryCauses = new Set(
    ntee.filter((row) => row.role === "primary").map((row) => row.cause_id),
  );
  const patterns = keywords.map((row) => ({
    cause: CauseId.parse(row.cause_id),
    confidence: CauseConfidence.parse(row.confidence),
    pattern: new RegExp(row.regex, "i"),
  }));
  const find = (among: typeof patterns) => (name: string) =>
    among
      .filter(({ pattern }) => pattern.test(name))
      .map(({ cause, confidence }) => ({
        cause_id: cause,
        role: "primary",
        confidence,
        from: "words of the name",
      }));
  return {
    all: find(patterns),
    untold: find(patterns.filter(({ cause }) => !primaryCauses.has(cause))),
  };
}
