import registerColumns from "#content/editorial/register-columns.json";
import { readableName } from "#content/register/names.ts";
import { readOrgId, schemeOf } from "#content/register/org-id.ts";
import { postTown, townInsteadOfPostcode } from "#content/register/places.ts";
import { companyNumber } from "#content/register/same-organisation.ts";
import { postalCode } from "#content/nonprofit/postal-points.ts";
import { recordUrl } from "#content/nonprofit/register-facts.ts";
import {
  type CsvFormat,
  type Row,
  amountOf,
  bad,
  cell,
  dayOf,
  descriptionOf,
  listed,
  missionOf,
  saidOf,
  skip,
  websiteOf,
} from "./format.ts";

const { published, extract } = registerColumns.ukcat;

/** Of the three registers those of one region, and the postcodes that lie in it: TD15 is Berwick's, in England. */
const regions = new Map([
  [
    "GB-SC",
    { name: "Scotland", codes: /^(?:AB|DD|DG|EH|FK|G|HS|IV|KA|KW|KY|ML|PA|PH|TD(?!15)|ZE)\d/ },
  ],
  ["GB-NIC", { name: "Northern Ireland", codes: /^BT\d/ }],
]);
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
    const registration = number.value;
    const { org_id } = registration;
    const scheme = schemeOf(org_id);
    const raw = cell(row, "name");
    const name = readableName(raw);
    if (name === "") return skip("withheld");
    const facts = { regulator: scheme, ...ukFacts(row, raw) };
    if (cell(row, "active").toLowerCase() === "false") {
      return { kind: "record", record: { org_id, name, state: "removed", facts } };
    }
    const mapped = mapping.british({
      ukcat: either(row, "UKCAT", "ukcat").split(";"),
      icnptso: either(row, "ICNPTSO", "icnptso"),
      name,
    });
    const record = { org_id, name, state: "registered" as const, facts };
    const postcode = cell(row, "postcode");
    const town = postTown(postcode, name);
    const fields = {
      country_code: "GB",
      region: regionOf(scheme, postcode),
      city: town?.city ?? townInsteadOfPostcode(postcode),
      website: websiteOf(either(row, "web", "website")),
      ...textsOf(row, raw),
    };
    const rules = town === null ? {} : { city: town.rule };
    return listed(record, registration, recordUrl("ukcat", org_id), mapped, fields, rules);
  },
};

/** The region of a register, where the postcode lies in it or none is there: Scotland's register has charities of London. */
function regionOf(scheme: string, postcode: string): string | null {
  const region = regions.get(scheme);
  const isThere = !/\d/.test(postcode) || region?.codes.test(postcode.toUpperCase());
  return isThere ? (region?.name ?? null) : null;
}

/** The dates and numbers of a row under the keys that content/editorial/registers.json has words for. */
const ukFacts = (row: Row, name: string) =>
  saidOf({
    registered: dayOf(cell(row, "date_registered")),
    removed: dayOf(cell(row, "date_removed")),
    income: amountOf(cell(row, "income")),
    spending: amountOf(cell(row, "spending")),
    accounts_to: dayOf(cell(row, "fye")),
    company_number: companyNumber(cell(row, "company_number"), cell(row, "org_id")),
    objects: missionOf(cell(row, "objects"), name),
    tags: either(row, "UKCAT", "ukcat"),
    icnptso: either(row, "ICNPTSO", "icnptso"),
    postal_code: postalCode("GB", cell(row, "postcode")),
  });

const either = (row: Row, one: string, other: string): string => cell(row, one) || cell(row, other);

/** What the charity says it does is its mission; the objects of its deed are the longer text, or stand in for it. */
function textsOf(row: Row, name: string): { mission: string | null; description: string | null } {
  const [activities, objects] = [cell(row, "activities"), cell(row, "objects")];
  const mission = missionOf(activities, name);
  if (mission === null) {
    const description = descriptionOf(objects, name);
    const short = missionOf(objects, name);
    return { mission: short, description: description === short ? null : description };
  }
  const longer = activities.length > 1_000 ? activities : objects;
  const description = descriptionOf(longer, name);
  const same = description?.toLowerCase() === mission.toLowerCase();
  return { mission, description: same ? null : description };
}
