import registerColumns from "#content/editorial/register-columns.json";
import uk from "#content/editorial/uk-registers.json";
import { readOrgId, schemeOf } from "#content/register/org-id.ts";
import { bad, cell, type CsvFormat, type Row } from "./format.ts";
import { ukOutcome, valuesOf } from "./uk.ts";

const { published, extract } = registerColumns.ukcat;

const ofUk = /^GB-(?:CHC|SC|NIC)$/;

/** The charity registers of the United Kingdom as UK Charity Activity Tags publishes them. */
export const ukcat: CsvFormat = {
  name: "ukcat",
  about: "Charities of the United Kingdom as published by UK Charity Activity Tags",
  lists: true,
  parts: {
    // Each of the three registers is a part.
    ofRow: (row) => schemeOf(cell(row, "org_id")),
    fits: ofUk,
    ofProfile: ({ org_ids }) => org_ids.map(schemeOf).find((scheme) => ofUk.test(scheme)) ?? null,
    // A charity that was tagged twice has two rows.
    onceEach: false,
  },
  dates: ["date_registered", "date_removed", "fye"],
  columns: [[...published, "date_removed"], published, extract],
  read: (row, mapping) => {
    const number = readOrgId(cell(row, "org_id"));
    if (!number.ok || !ofUk.test(schemeOf(cell(row, "org_id"))))
      return bad(`org_id "${cell(row, "org_id")}" is no number of a charity register of the UK`);
    const codes = {
      ukcat: either(row, "UKCAT", "ukcat").split(";"),
      icnptso: either(row, "ICNPTSO", "icnptso"),
    };
    const isRemoved = cell(row, "active").toLowerCase() === "false";
    return ukOutcome(
      {
        ...{ register: "ukcat", registration: number.value },
        state: isRemoved ? "removed" : "registered",
        texts: { ...row, website: either(row, "web", "website") },
        facts: {
          ...valuesOf(row, uk.ukcat, { name: "", org_id: number.value.org_id }),
          regulator: schemeOf(number.value.org_id),
          tags: either(row, "UKCAT", "ukcat"),
          icnptso: codes.icnptso,
        },
        mapped: (name) => mapping.british({ ...codes, name }),
      },
      !isRemoved,
    );
  },
};

const either = (row: Row, column: string, other: string): string =>
  cell(row, column) || cell(row, other);
