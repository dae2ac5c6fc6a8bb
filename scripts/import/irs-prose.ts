import type { NonprofitFields } from "#content/nonprofit/record.ts";
import { bad, cell, type CsvFormat, type RowOutcome, skip } from "./format.ts";
import { missionOf, programsOf, websiteOf } from "./prose-fields.ts";

/** Mission and programmes that organisations wrote on form 990 or 990-EZ, joined by EIN. */
export const irs990: CsvFormat = {
  name: "irs-990",
  about: "Missions and programmes of forms 990 and 990-EZ, joined by EIN to known organisations",
  lists: false,
  columns: [["ein", "name", "tax_period", "mission", "programme"]],
  read: (row) => {
    const name = cell(row, "name");
    const mission = missionOf(cell(row, "mission"), name);
    const programs = programsOf(cell(row, "programme"), name, mission);
    const fields = {
      ...(mission === null ? {} : { mission }),
      ...(programs.length === 0 ? {} : { programs }),
    };
    const url = "https://www.irs.gov/charities-non-profits/form-990-series-downloads";
    return joined(cell(row, "ein"), fields, cell(row, "tax_period"), url);
  },
};

/** Mission, website and year of formation that organisations gave on form 1023-EZ, joined by EIN. */
export const irs1023ez: CsvFormat = {
  name: "irs-1023ez",
  about: "Missions and websites of form 1023-EZ, joined by EIN to known organisations",
  lists: false,
  columns: [["EIN", "NAME", "TAXYR", "F9_03_PZ_MISSION", "Orgurl", "Incorporateddate"]],
  read: (row) => {
    const mission = missionOf(cell(row, "F9_03_PZ_MISSION"), cell(row, "NAME"));
    const website = websiteOf(cell(row, "Orgurl"));
    // The form asks when the organisation was incorporated or formed: that is when it was founded.
    const founded_year = yearOf(cell(row, "Incorporateddate"));
    const fields = {
      ...(mission === null ? {} : { mission }),
      ...(website === null ? {} : { website }),
      ...(founded_year === null ? {} : { founded_year }),
    };
    const url =
      "https://www.irs.gov/charities-non-profits/exempt-organizations-form-1023ez-approvals";
    // Spreadsheets took the leading zeros of the EIN.
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
  return { kind: "draft", rank, draft: { org_id, slug_name: "", fields, source_url } };
}

/** The year of "5/14/2007"; null for a date that is none, or before the United States. */
function yearOf(date: string): number | null {
  const year = Number(/^\d{1,2}\/\d{1,2}\/(\d{4})$/.exec(date)?.[1] ?? 0);
  return year >= 1776 && year <= 2100 ? year : null;
}
