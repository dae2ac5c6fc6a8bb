import { dayMs } from "#content/contract/base/time.ts";
import elements from "#content/editorial/irs-990-elements.json";
import type { StoredPeriod } from "#content/contract/nonprofit.ts";
import type { NonprofitFields } from "#content/nonprofit/record.ts";
import { amountInWords, dateInWords, recordUrl } from "#content/nonprofit/register-facts.ts";
import { readableName, wholeName } from "#content/register/names.ts";
import type { RowOutcome } from "#content/register/stage-rows.ts";
import {
  amountOf,
  bad,
  dayOf,
  type DocumentFormat,
  missionOf,
  present,
  programsOf,
  saidOf,
  skip,
  websiteOf,
} from "./format.ts";
import { readDocuments } from "./read-documents.ts";
import { elementsAt, readElements, Unreadable } from "./read-xml.ts";

/**
 * Returns 990, 990-EZ and 990-PF as the IRS publishes them: what organisations say about themselves and their money. Only
 * the elements of the table are read; none of them is about a person.
 */
export const irs990Xml: DocumentFormat = {
  name: "irs-990-xml",
  about:
    "Forms 990, 990-EZ and 990-PF as the IRS publishes them (zip, XML, folders), joined by EIN",
  lists: false,
  quarantines: true,
  readFile: async function* (file, onBytes, today) {
    try {
      for await (const { place, bytes } of readDocuments(file, onBytes)) {
        yield {
          line: place,
          part: "",
          outcome: await outcomeOf(bytes, objectIdOf(place ?? file), today),
        };
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      yield { line: null, part: "", outcome: bad(error.message) };
    }
  },
};

/** The number under which the IRS publishes a return; only the file name contains it. */
const objectIdOf = (name: string): string =>
  /(?:^|\D)(\d{18})_public\.xml(?:\.gz)?$/.exec(name)?.[1] ?? "";

const forms: Readonly<Record<string, { form: string; element: string }>> = elements.forms;

/** The elements to read, with their names before and after 2013, and the parts of a return that contain them. */
const wantedElements = elementsAt(
  Object.entries(elements.parts).flatMap(([part, keys]) => [
    [part, part] as const,
    ...Object.entries(keys).flatMap(([key, paths]) =>
      paths.map((path) => [`${part}/${path}`, key] as const),
    ),
  ]),
);

/** Only header and form are read: the schedules, half of a return, contain no element of the table. */
function isEnough(texts: ReadonlyMap<string, string>): boolean {
  const { element } = forms[texts.get("type") ?? ""] ?? {};
  return texts.has("/Return/ReturnHeader") && (element === undefined || texts.has(element));
}

async function outcomeOf(bytes: AsyncIterable<Uint8Array>, object_id: string, today: string) {
  try {
    const texts = await readElements(bytes, wantedElements, isEnough);
    const { form, element = "" } = forms[texts.get("type") ?? ""] ?? {};
    if (!texts.has("type")) return bad("it is no return of the IRS: ReturnTypeCd is missing");
    if (form === undefined) return skip("other_form");
    if (!texts.has(element)) return bad(`${element} is missing`);
    return returnOf({ form, object_id, text: (key) => texts.get(key) ?? "" }, today);
  } catch (error) {
    if (error instanceof Unreadable) return bad(error.message);
    throw error;
  }
}

/** `text`: the text of an element by its key, or "". */
type Texts = { form: string; object_id: string; text: (key: string) => string };
type Return = Texts & { org_id: string; name: string; period_end: string; filing_url: string };

function returnOf(texts: Texts, today: string): RowOutcome {
  const { text, object_id } = texts;
  const ein = text("ein");
  if (!/^(?!0{9})\d{9}$/.test(ein)) return bad(`EIN is "${ein.slice(0, 40)}", which is none`);
  const period_end = dayOf(text("period_end"));
  if (period_end === null) return bad(`TaxPeriodEndDt is "${text("period_end").slice(0, 40)}"`);
  if (period_end > today) return bad(`TaxPeriodEndDt is ${period_end}, which is to come`);
  const name = readableName(wholeName(`${text("name_1")} ${text("name_2")}`));
  if (name === "") return bad("the name of the organisation is missing");
  const org_id = `US-EIN-${ein}`;
  // The only address that shows a single return; the IRS has one page for each organisation.
  const filing_url =
    object_id === ""
      ? (recordUrl("irs-bmf", org_id) ?? "")
      : `https://projects.propublica.org/nonprofits/organizations/${Number(ein)}/${object_id}/full`;
  return draftOf({ ...texts, org_id, name, period_end, filing_url });
}

function draftOf(filing: Return): RowOutcome {
  const { form, object_id, org_id, name, period_end, filing_url, text } = filing;
  const fields = fieldsOf(filing);
  const object = object_id === "" ? "" : `, object ${object_id}`;
  const rule = `Form ${form} for the year to ${dateInWords(period_end)}${object}`;
  const facts = saidOf({
    form,
    object_id,
    period_end,
    employees: amountOf(text("employees")),
    volunteers: amountOf(text("volunteers")),
    group_return: isSaid(text("group_return")) ? "yes" : null,
    year_formed: fields.founded_year ?? null,
  });
  const finances = financesOf(filing);
  const draft = {
    org_id,
    fields,
    rules: Object.fromEntries(Object.keys(fields).map((field) => [field, rule])),
    record: { org_id, name, state: "filed" as const, facts, finances },
    filed_for: period_end,
    source_url: filing_url,
  };
  return { kind: "draft", rank: finances[0]?.filed_at ?? "", period: period_end, draft };
}

const isSaid = (text: string): boolean => /^(?:x|true|1)$/i.test(text);

/** "2009-11-09T16:03:22.000Z" for "2009-11-09T10:03:22-06:00"; null if it is no time. */
function instantOf(text: string): string | null {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

function fieldsOf({ name, period_end, text }: Return): Partial<NonprofitFields> {
  const missions = [text("mission_2"), text("mission_1")].map((raw) => missionOf(raw, name) ?? "");
  const mission = missions.toSorted((a, b) => b.length - a.length)[0] || null;
  const website = websiteOf(text("website"));
  const raw = Array.from({ length: programmesMax }, (_, at) => ({
    text: text(`programme_text_${at}`),
    cost: costOf(text(`programme_cost_${at}`), period_end),
  }));
  const programs = programsOf(raw, name, mission);
  const year = Number(text("year_formed"));
  // Harvard was formed in 1636; the form is about a past year.
  const isYear = year >= 1600 && year <= Number(period_end.slice(0, 4));
  return present({ mission, website, programs, founded_year: isYear ? year : null });
}

/** More than a profile has, because some are empty. */
const programmesMax = 30;

function costOf(raw: string, period_end: string): string {
  const cost = amountOf(raw) ?? 0;
  if (cost <= 0) return "";
  const month = dateInWords(period_end.slice(0, 7));
  return `Cost in the year to ${month}: ${amountInWords(cost, "USD", true)}.`;
}

/** The return's own period, and the column for the year before if it is filled in. */
function financesOf({ form, period_end, filing_url, text }: Return): StoredPeriod[] {
  const start = dayOf(text("period_start"));
  const period_start = start !== null && start < period_end ? start : null;
  const amount = (key: string) => amountOf(text(key));
  const column = (before: "" | "_before") => ({
    form,
    currency: "USD",
    revenue: amount(`revenue${before}`),
    expenses: amount(`expenses${before}`),
    assets: amount(`assets${before}`),
    liabilities: amount(`liabilities${before}`),
    net_assets: amount(`net_assets${before}`),
    amended: isSaid(text("amended")),
    filed_at: instantOf(text("filed_at")),
    filing_url,
  });
  const period = { period_start, period_end, ...column("") };
  const before = column("_before");
  const { revenue, expenses, assets, liabilities, net_assets } = before;
  const isSaidBefore = [revenue, expenses, assets, liabilities, net_assets].some((sum) => !!sum);
  if (period_start === null || !isSaidBefore) return [period];
  const end = new Date(Date.parse(period_start) - dayMs).toISOString().slice(0, 10);
  return [period, { period_start: null, period_end: end, ...before, prior_year: true }];
}
