import registerColumns from "#content/editorial/register-columns.json";
import { countryCode, countryName } from "#content/nonprofit/country.ts";
import { postalCode } from "#content/nonprofit/postal-points.ts";
import { recordUrl } from "#content/nonprofit/register-facts.ts";
import { readableName, readablePlace } from "#content/register/names.ts";
import { provinceName } from "#content/register/places.ts";
import {
  type CsvFormat,
  type Row,
  amountOf,
  bad,
  cell,
  dayOf,
  listed,
  saidOf,
  skip,
  websiteOf,
  yearOf,
} from "./format.ts";

// The format itself contains these misspellings.
const { columns, purposes, purposeNames, states } = registerColumns.acnc;

export const acnc: CsvFormat = {
  name: "acnc",
  about: "Register of the Australian Charities and Not-for-profits Commission",
  lists: true,
  parts: { ofRow: () => "AU", onceEach: true },
  dates: ["Registration_Date", "Date_Organisation_Established"],
  columns: [[...columns, ...Object.keys(states), ...purposes]],
  read: (row, mapping) => {
    const abn = cell(row, "ABN").replaceAll(" ", "");
    const name = readableName(cell(row, "Charity_Legal_Name"));
    // The commission withholds some charities; the rest of their rows names no one.
    if (abn === "") return skip("withheld");
    if (!/^\d{11}$/.test(abn)) return bad(`ABN is "${abn}", which is not eleven digits`);
    if (name === "") return skip("withheld");
    const markedColumns = new Set(purposes.filter((column) => isMarked(row, column)));
    const isMarkedHere = (code: string) => markedColumns.has(code);
    const causeChoice = mapping.byPurposes(
      "ACNC column",
      name,
      isMarkedHere,
      markedColumns.size > 14,
    );
    const registration = {
      country_code: "AU",
      type: "ABN",
      registration_number: abn,
      org_id: `AU-ABN-${abn}`,
    };
    const { org_id } = registration;
    const record = { org_id, name, state: "registered" as const, facts: acncFacts(row) };
    return listed(record, registration, recordUrl("acnc", org_id), causeChoice, {
      country_code: "AU",
      ...placeOf(row),
      website: websiteOf(cell(row, "Charity_Website")),
      founded_year: yearOf(cell(row, "Date_Organisation_Established"), 1000),
    });
  },
};

const isMarked = (row: Row, column: string): boolean => cell(row, column).toUpperCase() === "Y";

const markedIn = (row: Row, names: Readonly<Record<string, string>>): string[] =>
  Object.entries(names).flatMap(([column, name]) => (isMarked(row, column) ? name : []));

/** The facts of a row, under keys that content/editorial/registers.json describes. */
function acncFacts(row: Row) {
  const countries = cell(row, "Operating_Countries").split(/[,;]\s*/);
  return saidOf({
    purposes: markedIn(row, purposeNames).join("; "),
    registered: dayOf(cell(row, "Registration_Date")),
    established: dayOf(cell(row, "Date_Organisation_Established")),
    postal_code: postalCode("AU", cell(row, "Postcode")),
    size: cell(row, "Charity_Size"),
    responsible_people: amountOf(cell(row, "Number_of_Responsible_Persons")),
    year_end: cell(row, "Financial_Year_End").replace("-", " "),
    states: markedIn(row, states).join(", "),
    countries: countries
      .flatMap((code) => countryName(countryCode(code)) ?? [])
      .filter((name) => name !== "Australia")
      .join(", "),
    pbi: isMarked(row, "PBI") ? "Y" : null,
    hpc: isMarked(row, "HPC") ? "Y" : null,
  });
}

/** Town and state. Some addresses are shifted one column to the left, which puts the state into the town's column. */
function placeOf(row: Row): { city: string | null; region: string | null } {
  const [line, town, state] = [
    cell(row, "Address_Line_3"),
    cell(row, "Town_City"),
    cell(row, "State"),
  ];
  const provinceInTown = state === "" ? provinceName("AU", town) : null;
  const city = provinceInTown === null ? town : line;
  return {
    city: city === "" || /\d/.test(city) ? null : readablePlace(city),
    region: provinceInTown ?? provinceName("AU", state),
  };
}
