import registerColumns from "#content/editorial/register-columns.json";
import type { NonprofitFields } from "#content/nonprofit/record.ts";
import { otherName, readableName, wholeChapter, wholeName } from "#content/register/names.ts";
import { postalCode } from "#content/nonprofit/postal-points.ts";
import { bmfForeign, bmfPlace } from "#content/register/places.ts";
import type { RowOutcome } from "#content/register/stage-rows.ts";
import {
  amountOf,
  bad,
  cell,
  type CsvFormat,
  listed,
  missionOf,
  monthOf,
  present,
  programsOf,
  type Row,
  saidOf,
  skip,
  websiteOf,
  yearOf,
} from "./format.ts";

const sourceUrl =
  "https://www.irs.gov/charities-non-profits/exempt-organizations-business-master-file-extract-eo-bmf";

/** Private foundations give to others, so they are no destination for donors. */
const privateFoundations = new Set(["02", "03", "04"]);

/**
 * The IRS master file of exempt organisations. ICO and the street are not read on purpose (a person's name and home).
 * RULING and the amounts are only facts of the register: a ruling is not when an organisation was founded, and a year's
 * revenue is no budget. Source: the record layout eo-info.pdf.
 */
export const irsBmf: CsvFormat = {
  name: "irs-bmf",
  about: "IRS Exempt Organizations Business Master File (eo_*.csv); lists public charities",
  lists: true,
  parts: {
    ofRow: (row) => cell(row, "STATE") || bmfForeign,
    onceEach: true,
  },
  dates: ["RULING", "TAX_PERIOD"],
  columns: [registerColumns["irs-bmf"]],
  read: (row, mapping) => {
    const ein = cell(row, "EIN");
    if (!/^\d{9}$/.test(ein)) return bad(`EIN is "${ein}", which is not nine digits`);
    if (!/^\d\d$/.test(cell(row, "SUBSECTION"))) return bad("SUBSECTION is not two digits");
    const parent = readableName(wholeName(cell(row, "NAME")));
    if (parent === "") return bad("NAME is empty");
    const chapter = chapterOf(row);
    const name = chapter === null ? parent : withChapter(parent, chapter);
    const org_id = `US-EIN-${ein}`;
    const record = { org_id, name, state: "registered" as const, facts: bmfFacts(row) };
    if (!isEligible(row)) return { kind: "record", record };
    const causeChoice = mapping.american({
      foundation: cell(row, "FOUNDATION"),
      ntee: cell(row, "NTEE_CD"),
      activity: activityOf(row),
      name,
    });
    const place = bmfPlace({
      STREET: cell(row, "STREET"),
      CITY: cell(row, "CITY"),
      STATE: cell(row, "STATE"),
    });
    const registration = {
      country_code: "US",
      type: "EIN",
      registration_number: formattedEin(ein),
      org_id,
    };
    return listed(record, registration, sourceUrl, causeChoice, place);
  },
};

/** The codes and numbers of a row, under keys that content/editorial/registers.json describes. */
function bmfFacts(row: Row) {
  const filing = cell(row, "FILING_REQ_CD");
  const isPrivate = cell(row, "PF_FILING_REQ_CD") === "1";
  const amounts = ["INCOME_AMT", "REVENUE_AMT", "ASSET_AMT"].map((name) =>
    amountOf(cell(row, name)),
  );
  // Form 990-N asks for no amounts, so its zeros mean nothing, whatever form the IRS expects. Form 990-PF has no revenue.
  const isUnsaid = amounts.every((amount) => amount === 0);
  const [income = null, revenue = null, assets = null] = isUnsaid ? [] : amounts;
  return saidOf({
    other_name: isEligible(row) ? otherNameOf(row) : null,
    subsection: cell(row, "SUBSECTION"),
    status: cell(row, "STATUS"),
    foundation: cell(row, "FOUNDATION"),
    ntee: cell(row, "NTEE_CD"),
    // The IRS gave up these codes in 1995: they count only for a row without a newer one.
    activity: cell(row, "NTEE_CD") === "" ? activityOf(row) : null,
    deductibility: cell(row, "DEDUCTIBILITY"),
    ruling: rulingOf(row),
    filing: isPrivate ? "PF" : filing,
    postal_code: isEligible(row) ? postalCode("US", cell(row, "ZIP")) : null,
    year_end: cell(row, "ACCT_PD"),
    tax_period: monthOf(cell(row, "TAX_PERIOD")),
    income,
    // A gross income without any revenue is a return whose revenue the IRS has not entered.
    revenue: revenue === 0 && income !== 0 ? null : revenue,
    assets,
  });
}

/**
 * The month of its ruling. A group's member has the group's, which is mostly older than the member; and before August 1909
 * there was no tax to be exempt from.
 */
function rulingOf(row: Row): string | null {
  const month = monthOf(cell(row, "RULING"));
  return isMember(row) || (month !== null && month < "1909-08") ? null : month;
}

/** Whether its exemption is that of a group. */
const isMember = (row: Row): boolean => cell(row, "AFFILIATION") === "9";

/**
 * The former activity codes, "" for those that say nothing: alone, 320 (scouts) and 059 (other school related) were given to
 * organisations of every kind; of those with a newer category, 7 % work for youth and 31 % in education. Of those with 001
 * (church) that are none by their newer foundation code, 12 % work in religion: chapters of hunters have it.
 */
const activityOf = (row: Row): string => {
  const codes = cell(row, "ACTIVITY");
  const isNoChurch = codes.startsWith("001") && cell(row, "FOUNDATION") !== "10";
  return isNoChurch || codes === "320000000" || codes === "059000000" ? "" : codes;
};

/** "12-3456789", the American notation. */
const formattedEin = (ein: string): string => `${ein.slice(0, 2)}-${ein.slice(2)}`;

const isEligible = (row: Row): boolean =>
  cell(row, "SUBSECTION") === "03" &&
  cell(row, "STATUS") === "01" &&
  !privateFoundations.has(cell(row, "FOUNDATION"));

/**
 * The chapter's name of a group's member: its SORT_NAME without the group's own number. Null for other organisations
 * (their SORT_NAME is a second name, often a trustee's), for a bare number, and if it repeats the name.
 */
function chapterOf(row: Row): string | null {
  if (!isMember(row)) return null;
  const sortName = wholeChapter(cell(row, "SORT_NAME"));
  if (/\b(?:SOLE MBR|TTEE|TRUSTEE|PRES|TREAS)\b|^%/.test(sortName)) return null;
  // A year distinguishes classes; any other number is the group's own count of its members.
  const words = sortName.replace(/^(?!(?:18|19|20)\d\d )[\d-]+ +(?=\S*[A-Z])/, "").trim();
  if (!/[A-Z]{2}/.test(words)) return null;
  const name = cell(row, "NAME").replaceAll(/[^A-Z0-9]/g, "");
  const letters = words.replaceAll(/[^A-Z0-9]/g, "");
  return name.includes(letters) || letters === "" ? null : words;
}

/** The second name (SORT_NAME) of an organisation that is no chapter; null for none, and for a trustee. */
function otherNameOf(row: Row): string | null {
  if (isMember(row) || cell(row, "SORT_NAME") === "") return null;
  return otherName(cell(row, "SORT_NAME"), cell(row, "NAME"));
}

/** "Rocky Mountain Elk Foundation Inc (Southeast Iowa)", "Trout Unlimited of Tijeras". */
function withChapter(parent: string, chapter: string): string {
  if (/^OF\b/.test(chapter)) return `${parent} ${readableName(`X ${chapter}`).slice(2)}`;
  return `${parent} (${readableName(chapter, parent)})`;
}

/** Missions and programmes from form 990 or 990-EZ, joined by EIN. */
export const irs990: CsvFormat = {
  name: "irs-990",
  about: "Missions and programmes of forms 990 and 990-EZ, joined by EIN to known organisations",
  lists: false,
  columns: [["ein", "name", "tax_period", "mission", "programme"]],
  read: (row) => {
    const name = cell(row, "name");
    const mission = missionOf(cell(row, "mission"), name);
    // One cell holds all programmes, separated by marks.
    const texts = cell(row, "programme").split("##");
    const programs = programsOf(
      texts.map((text) => ({ text, cost: "" })),
      name,
      mission,
    );
    const fields = present({ mission, programs });
    const url = "https://www.irs.gov/charities-non-profits/form-990-series-downloads";
    return joined(cell(row, "ein"), fields, cell(row, "tax_period"), url);
  },
};

/** Missions, websites and years of formation from form 1023-EZ, joined by EIN. */
export const irs1023ez: CsvFormat = {
  name: "irs-1023ez",
  about: "Missions and websites of form 1023-EZ, joined by EIN to known organisations",
  lists: false,
  columns: [["EIN", "NAME", "TAXYR", "F9_03_PZ_MISSION", "Orgurl", "Incorporateddate"]],
  read: (row) => {
    const mission = missionOf(cell(row, "F9_03_PZ_MISSION"), cell(row, "NAME"));
    const website = websiteOf(cell(row, "Orgurl"));
    // The form asks when the organisation was incorporated or formed, which is when it was founded. Dates before the
    // United States are errors.
    const founded_year = yearOf(cell(row, "Incorporateddate"), 1776);
    const fields = present({ mission, website, founded_year });
    const url =
      "https://www.irs.gov/charities-non-profits/exempt-organizations-form-1023ez-approvals";
    // Spreadsheets dropped the leading zeros of the EIN.
    return joined(cell(row, "EIN").padStart(9, "0"), fields, cell(row, "TAXYR"), url);
  },
};

function joined(
  ein: string,
  fields: Partial<NonprofitFields>,
  rank: string,
  source_url: string,
): RowOutcome {
  if (!/^\d{9}$/.test(ein)) return bad(`EIN is "${ein}", which is not nine digits`);
  if (!/^\d{4}(?:\d\d)?$/.test(rank)) return bad(`the tax year is "${rank}"`);
  if (Object.keys(fields).length === 0) return skip("withheld");
  const org_id = `US-EIN-${ein}`;
  const month = Number(rank.slice(4) || 12);
  const filed_for = new Date(Date.UTC(Number(rank.slice(0, 4)), month, 0))
    .toISOString()
    .slice(0, 10);
  return { kind: "draft", rank, draft: { org_id, fields, filed_for, source_url, record: null } };
}
