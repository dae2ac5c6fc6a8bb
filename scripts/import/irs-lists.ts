import registerColumns from "#content/editorial/register-columns.json";
import { otherName, readableName, wholeName } from "#content/register/names.ts";
import { bad, cell, type CsvFormat, dayOf, type Row, saidOf, websiteOf } from "./format.ts";

// Lists of the IRS besides its master file. All are text files that begin with blank lines and have "|" between cells and
// no header. Addresses are not read. Source: IRS, "Tax Exempt Organization Search Bulk Data Downloads".

/** Each list is one file for the whole country. */
const wholeList = {
  lists: false,
  parts: { ofRow: () => "US", onceEach: false },
  delimiter: "|",
} as const satisfies Partial<CsvFormat>;

/** Publication 78: organisations to which gifts are deductible. */
export const irsPub78: CsvFormat = {
  name: "irs-pub78",
  about: "IRS Publication 78 (data-download-pub78.txt); says to whom gifts are deductible",
  ...wholeList,
  columns: [["EIN", "Legal Name", "City", "State", "Country", "Deductibility Status"]],
  read: (row) => {
    const organisation = organisationOf(row);
    if (typeof organisation === "string") return bad(organisation);
    const status = cell(row, "Deductibility Status").toUpperCase();
    if (!/^(?:[A-Z]+(?: *, *[A-Z]+)*)?$/.test(status)) {
      return bad(`Deductibility Status is "${status}", which is not codes with commas between`);
    }
    const codes = status.split(/ *, */);
    // GROUP does not say how much is deductible; of the other codes the narrowest counts, else an unknown one.
    const ownCode =
      narrowestFirst.find((code) => codes.includes(code)) ??
      codes.filter((code) => code !== "GROUP").at(-1);
    const facts = saidOf({
      deductibility: ownCode ?? "GROUP",
      group: ownCode !== undefined && codes.includes("GROUP") ? "GROUP" : null,
    });
    return { kind: "record", record: { ...organisation, state: "registered", facts } };
  },
};

/** Sorted by the share of income that a donor may deduct; rows have their codes in alphabetical order. */
const narrowestFirst = "LODGE PF SONFI SOUNK SO POF PC UNKWN FORGN EO FED".split(" ");

/** Organisations whose exemption was revoked because they filed nothing for three years. */
export const irsRevocations: CsvFormat = {
  name: "irs-revocations",
  about:
    "IRS Auto-Revocation List (data-download-revocation.txt); says whose exemption was revoked",
  ...wholeList,
  columns: [registerColumns["irs-revocations"]],
  read: (row) => {
    const organisation = organisationOf(row);
    if (typeof organisation === "string") return bad(organisation);
    const dates = [
      listedDay(row, "Revocation Date"),
      listedDay(row, "Revocation Posting Date"),
      listedDay(row, "Exemption Reinstatement Date"),
    ] as const;
    const dateProblem = dates.find(({ problem }) => problem !== null)?.problem;
    if (dateProblem != null) return bad(dateProblem);
    const [{ day: listed }, { day: posted }, { day: back }] = dates;
    if (listed === "") return bad("Revocation Date is empty");
    const revoked = effectiveDay(listed);
    // A reinstatement before the listed date precedes this revocation. Most later ones date from the listed day.
    const reinstated = back < listed ? "" : back < revoked ? revoked : back;
    const facts = saidOf({ revoked, posted, reinstated });
    const state = reinstated === "" ? "revoked" : "reinstated";
    return {
      kind: "record",
      record: { ...organisation, state, facts },
      rank: `${revoked} ${posted} ${back}`,
    };
  },
};

/**
 * Form 990-N, the e-Postcard: the newest row of each organisation, without amounts. Columns 9 to 16 (an officer, an
 * address that may be a home) and the organisation's address are not read. A "|" within a cell shifts the later cells.
 */
export const irs990n: CsvFormat = {
  name: "irs-990n",
  about: "IRS Form 990-N, e-Postcard (data-download-epostcard.txt); websites and other names",
  lists: false,
  quarantines: true,
  delimiter: "|",
  columns: [registerColumns["irs-990n"]],
  dates: ["Tax Period Begin", "Tax Period End"],
  read: (row) => {
    const organisation = organisationOf(row);
    if (typeof organisation === "string") return bad(organisation);
    const period_end = dayOf(cell(row, "Tax Period End"));
    if (period_end === null) return bad("Tax Period End is empty");
    const website = websiteOf(cell(row, "Website"));
    const facts = saidOf({
      form: "990-N",
      period_end,
      terminated: cell(row, "Terminated").toUpperCase() === "T" ? "T" : null,
      other_name: ["DBA 1", "DBA 2", "DBA 3"]
        .flatMap((dba) => otherName(cell(row, dba), cell(row, "Legal Name")) ?? [])
        .join("; "),
    });
    return {
      kind: "draft",
      rank: period_end,
      draft: {
        org_id: organisation.org_id,
        fields: website === null ? {} : { website },
        filed_for: period_end,
        source_url: "https://www.irs.gov/charities-non-profits/tax-exempt-organization-search",
        record: { ...organisation, state: "filed", facts },
      },
    };
  },
};

/** The number and name of a row, or what is wrong with them. */
function organisationOf(row: Row): { org_id: string; name: string } | string {
  const ein = cell(row, "EIN");
  if (!/^(?!0{9})\d{9}$/.test(ein)) return `EIN is "${ein}", which is not nine digits`;
  return { org_id: `US-EIN-${ein}`, name: readableName(wholeName(cell(row, "Legal Name"))) || ein };
}

/** "2017-11-15" for "15-NOV-2017"; "" for an empty cell. */
function listedDay(row: Row, column: string): { day: string; problem: string | null } {
  const text = cell(row, column);
  const day = /^\d\d-[A-Z]{3}-\d{4}$/i.test(text) ? dayOf(text.replaceAll("-", " ")) : null;
  const isRight = text === "" || day !== null;
  const problem = isRight ? null : `${column} is "${text}", which is no date like 15-NOV-2017`;
  return { day: day ?? "", problem };
}

/** Due dates of spring 2020 were moved, but the list has the old ones. Source: IRS, on the list itself. */
const effectiveDay = (day: string): string =>
  day >= "2020-04-01" && day < "2020-07-15" ? "2020-07-15" : day;
