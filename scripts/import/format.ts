import type { Program } from "#content/contract/nonprofit.ts";
import type {
  NonprofitFields,
  RegisterRecord,
  StoredRegistration,
} from "#content/nonprofit/record.ts";
import { lettersOf } from "#content/nonprofit/text.ts";
import { readWebsite } from "#content/nonprofit/website.ts";
import type { CauseMapping, CauseChoice } from "#content/register/cause-mapping.ts";
import type { RecordDraft, RegisterDraft } from "#content/register/merge.ts";
import type {
  Register,
  RegisterRow,
  RowOutcome,
  UnreadableRow,
} from "#content/register/stage-rows.ts";
import { readableProse, shortened } from "#content/register/sentence-case.ts";
import type { SkipReason } from "#content/register/import-store.ts";

export type Format = CsvFormat | DocumentFormat;

type RegisterFormat = Register & {
  /** One line for `--help`. */
  about: string;
};

/** A format of files whose rows are documents. */
export type DocumentFormat = RegisterFormat & {
  /** Reads the documents of a file; one about a year after `today` (YYYY-MM-DD) is bad. */
  readFile(
    file: string,
    onBytes: (bytes: number) => void,
    today: string,
  ): AsyncIterable<RegisterRow>;
};

export type CsvFormat = RegisterFormat & {
  parts?: RegisterParts;
  /** The columns to read; of several alternatives, the first that a file has. A file that fits none is refused. */
  columns: readonly (readonly string[])[];
  /** Separator of a format without header and quotes. Its columns are the first ones of every row. */
  delimiter?: string;
  /** Columns with a date or nothing: a row with an impossible date is malformed. */
  dates?: readonly string[];
  /** Opens the files of a register that are not read one by one, for example several tables. */
  open?(files: readonly string[], context: OpenContext): OpenedFile[];
  read(row: Row, mapping: CauseMapping): RowOutcome;
};

export type OpenContext = {
  dataDir: string;
  /** No date may be later; begins with YYYY-MM-DD. */
  latest: string;
  onBytes: (bytes: number) => void;
  /** Called for files that are missing, and for data that is not used. */
  onLeftOut: (problem: string) => void;
};

export type OpenedFile = {
  name: string;
  rows: AsyncGenerator<{ row: Row; line: number } | UnreadableRow>;
};

type RegisterParts = NonNullable<Register["parts"]> & {
  /** The part of the register to which a row belongs, for example a state. */
  ofRow: (row: Row) => string;
};

/** The text under each column of the format; "" if the row is too short. */
export type Row = Readonly<Record<string, string>>;

/** The text under a column, trimmed. */
export const cell = (row: Row, column: string): string => (row[column] ?? "").trim();

export const bad = (problem: string): RowOutcome => ({ kind: "bad", problem });
export const skip = (why: SkipReason): RowOutcome => ({ kind: "skip", why });

/** An organisation that a register lists: its record, its registration, and the fields of its profile. */
export function listed(
  record: RecordDraft,
  registration: StoredRegistration,
  source_url: string | null,
  mapped: CauseChoice,
  fields: Partial<NonprofitFields>,
  chosen: RegisterDraft["rules"] = {},
): RowOutcome {
  const { org_id, name } = record;
  const { causes, by, rule } = mapped;
  const draft = {
    org_id,
    source_url,
    fields: { name, ...fields, causes, registrations: [registration] },
    rules: rule === "" ? chosen : { ...chosen, causes: rule },
    record,
  };
  return { kind: "draft", rank: "", mapped: by, draft };
}

/** The facts that are not blank. */
export const saidOf = (
  facts: Readonly<Record<string, string | number | null>>,
): RegisterRecord["facts"] =>
  Object.fromEntries(
    Object.entries(facts).filter(
      (fact): fact is [string, string | number] => !!fact[1] || fact[1] === 0,
    ),
  );

/** The fields that a form fills in, without blank ones. */
export const present = (fields: Partial<NonprofitFields>): Partial<NonprofitFields> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => ![value].flat().every((entry) => entry === null)),
  );

/** An amount in whole units; null if it is blank or no number. */
export const amountOf = (text: string): number | null =>
  /^-?\d{1,15}(?:\.\d*)?$/.test(text) ? Math.round(Number(text)) : null;

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const monthNamed = (name: string): string => String(months.indexOf(name.toLowerCase()) + 1);

/**
 * The day in "1990-08-02", "2001-09-13 00:00:00", "13/09/2001", "13 September 2001" or "09-13-2001" as YYYY-MM-DD; null
 * for anything else.
 */
export function dayOf(text: string): string | null {
  const digits = text
    .replace(/^(\d\d)-(\d\d)-(\d{4})$/, "$2/$1/$3")
    .replace(/ ([a-z]{3})[a-z]* /i, (_, name: string) => `/${monthNamed(name)}/`);
  const written = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: 0?0:00(?::00)?)?$/.exec(digits);
  const [, day = "", month = "", year = ""] = written ?? [];
  const iso =
    written === null
      ? text.slice(0, 10)
      : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const date = /^\d{4}-\d\d-\d\d$/.test(iso) ? new Date(`${iso}T00:00:00Z`) : null;
  const isDate = date !== null && !Number.isNaN(date.getTime());
  return isDate && date.toISOString().startsWith(iso) ? iso : null;
}

/** What is wrong with the dates of a row; null if nothing. No date may be after `latest`, which begins with YYYY-MM-DD. */
export function dateFault(row: Row, columns: readonly string[], latest: string): string | null {
  for (const column of columns) {
    const text = cell(row, column);
    // Registers write zeros for an unknown date.
    if (text === "" || text.startsWith("0000")) continue;
    const date = /^\d{6}$/.test(text) ? monthOf(text) : dayOf(text);
    if (date === null || date < "1000")
      return `${column} is "${text.slice(0, 40)}", which is no date`;
    if (date > latest.slice(0, date.length)) return `${column} is "${text}", which is to come`;
  }
  return null;
}

/** "1994-07" for "199407"; null for "000000" and for anything that is no month. */
export const monthOf = (text: string): string | null =>
  /^(?:1[89]|20)\d\d(?:0[1-9]|1[0-2])$/.test(text) ? `${text.slice(0, 4)}-${text.slice(4)}` : null;

/** Maximum lengths of texts in characters, and number of programmes. */
const missionMax = 1_000;
const descriptionMax = 5_000;
const programmeMax = 2_000;
const programsMax = 10;
const programNameMax = 80;

export const missionOf = (raw: string, organisation: string): string | null =>
  shortened(formProse(raw, organisation), missionMax) || null;

export const descriptionOf = (raw: string, organisation: string): string | null =>
  shortened(readableProse(raw, organisation), descriptionMax) || null;

/**
 * The website in a register's cell, which may lack a scheme, be in capitals, or say "none". Capitals say nothing about the
 * case of a path, so all becomes lower case. Null if it is no public web address.
 */
export function websiteOf(raw: string): string | null {
  const whole = raw.trim().replace(/(?<![\s,.;])[\s,.;]+$/, "");
  // Of several sites in a cell the first counts.
  const text = whole.split(/[\s,;&]+/).find((part) => siteInText.test(part)) ?? whole;
  const cased = /[a-z]/.test(text.replace(/^https?:/, "")) ? text : text.toLowerCase();
  const read = readWebsite(
    cased
      .replace(/^(https?)(?::\/*|\.?\/\/)(?:https?:\/*)?\.?/i, "$1://")
      .replace(/^(?!https?:)www\.?\//i, ""),
  );
  // "www.foundation" lost its ending on the form.
  return read === null || /^www\.[^.]+$/.test(read.url.hostname) ? null : read.live;
}

const siteInText = /^(?:https?:|www\.)\S*\.|\w\.(?:com|org|net|edu|gov|us|info)(?:$|\/)/i;

/**
 * Programmes as forms describe them, without those that only repeat the mission. `cost`: a text that is added to the
 * description, or "".
 */
export function programsOf(
  raw: readonly { text: string; cost: string }[],
  organisation: string,
  mission: string | null,
): Program[] {
  const texts = new Set(["", lettersOf(mission ?? "")]);
  const programmes = raw.flatMap(({ text, cost }) => {
    const programme = formProse(text, organisation).replace(/^[-–•* ]+/u, "");
    const letters = lettersOf(programme);
    // Of a repeated programme the first counts.
    if (texts.has(letters)) return [];
    texts.add(letters);
    return { text: programme, cost };
  });
  return programmes.slice(0, programsMax).map(({ text, cost }) => {
    const name = programName(text);
    const claim = shortened(afterName(text, name), programmeMax - cost.length - 2);
    const ended = /[\p{L}\p{N}]$/u.test(claim) && cost !== "" ? `${claim}.` : claim;
    const description = [ended, cost].filter((part) => part !== "").join(" ");
    return {
      name: readableProse(name, organisation) || name,
      description: description === "" ? null : description,
      beneficiaries_per_year: null,
      location: null,
    };
  });
}

// Looking behind keeps a pattern from starting anew within a run: a cell may hold 50,000 spaces.

/** "(SEE SCHEDULE O)", "- CONTINUED ON SCHEDULE O": a reference at the end of a text. */
const elsewhere =
  /(?<![\s([–—:;,-])[\s([–—:;,-]*\b(?:please )?(?:see|refer to|cont(?:inued|'d|inues)?\.?(?: (?:on|in|at))?)(?: the)?(?: attached)? sch\w* o\b[^.]{0,60}\W*$/i;

/** "(CONTINUED ON PAGE 42)" or "(SEE SCHEDULE O)" within a text, with the stops around it. */
const continued =
  /([.,;]|(?<!\s))\s*\((?:cont(?:inued?|['’]?d)?\b|see sch\w* o\b)[^()]{0,60}\)(?:\s*([.,;]))?/gi;

/** No text ends with such a word, but the room on some forms does. "Vitamin A" is whole. */
const brokenOff =
  /(?<!\b(?:hepatitis|schedule|statement|vitamin)) (?:a|an|and|at|by|for|from|including|its|of|or|our|that|the|their|to|which|with|&)$/;
/** A shorter text that breaks off says too little: "The mission of the organization is to". */
const brokenOffMin = 40;

/** The text of a form, without references to its other pages. One that breaks off ends with "…", or is "" if short. */
function formProse(raw: string, organisation: string): string {
  const bare = raw
    .replaceAll(continued, (_, before: string, after = before) => `${after} `)
    .replace(elsewhere, "")
    .replace(/(?<![\s-])[\s-]+$/, "");
  const text = readableProse(bare, organisation);
  if (!brokenOff.test(text)) return text;
  return text.length < brokenOffMin ? "" : `${text}…`;
}

/** The heading before a colon or a dash, or else the first words. */
function programName(text: string): string {
  const heading = /^(.{3,70}?)(?::| [-–—] )/u.exec(text)?.[1]?.trim();
  if (heading !== undefined && !/[.!?]\s/.test(heading)) return heading;
  // Before a small letter a full stop abbreviates.
  const sentence = /^.{3,79}?[.!?](?=\s+\P{Ll}|\s*$)/u.exec(text)?.[0] ?? text;
  return shortened(sentence.replace(/\.$/, ""), programNameMax);
}

function afterName(text: string, name: string): string {
  if (text.replace(/\.$/, "") === name) return "";
  const rest = text.startsWith(name) ? text.slice(name.length) : "";
  const heading = /^\s*(?::|[-–—] )\s*/u.exec(rest)?.[0];
  if (heading === undefined) return text;
  const body = rest.slice(heading.length);
  return body.slice(0, 1).toUpperCase() + body.slice(1);
}

/** The year of a date such as "5/14/2007" or "31/12/1871"; null for none, and before `earliest`. */
export function yearOf(date: string, earliest: number): number | null {
  const year = Number(/^\d{1,2}\/\d{1,2}\/(\d{4})$/.exec(date)?.[1] ?? 0);
  return year >= earliest && year <= 2100 ? year : null;
}

/** No register has a longer cell; a longer one has lost a quote. */
const cellLengthMax = 50_000;

/** Reads a row. A row with a cell that is too long, or with an impossible date, is malformed. */
export function readRow(
  format: CsvFormat,
  row: Row,
  { mapping, latest }: { mapping: CauseMapping; latest: string },
): RowOutcome {
  for (const column in row) {
    if ((row[column] ?? "").length > cellLengthMax)
      return bad(`${column} has more than ${cellLengthMax} characters`);
  }
  const fault = dateFault(row, format.dates ?? [], latest);
  return fault === null ? format.read(row, mapping) : bad(fault);
}
