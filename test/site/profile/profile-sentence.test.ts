import { expect, test } from "bun:test";
import es from "#content/editorial/texts/es.json";
import { english, openTexts } from "#content/language/texts.ts";
import {
  type NonprofitRecord,
  type RegisterRecord,
  sourceFrom,
} from "#content/nonprofit/record.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { sizeOf } from "#site/profile/profile-facts.ts";
import { nearbyOf, sentenceOf, standingLine } from "#site/profile/profile-sentence.ts";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

type Facts = RegisterRecord["facts"];
/** What one register says of it. */
const recordOf = (
  register: string,
  facts: Facts,
  state: RegisterRecord["state"] = "registered",
  org_id = "US-EIN-530196605",
) => aRegisterRecord({ org_id, register, state, facts });
const said = (...records: RegisterRecord[]) => ({ register_records: records });
const bmf = (facts: Facts) => said(recordOf("irs-bmf", facts));
const irs = { subsection: "03", deductibility: "1", ruling: "1994-07" };
const revoked = (facts: Facts) => recordOf("irs-revocations", facts, "revoked");
const thin = { country_code: null, causes: [] };
const honolulu = { country_code: "US", region: "Hawaii", city: "Honolulu" };

const ofRule = {
  ...sourceFrom("register", 0, { source: "irs-bmf" }),
  rule: "NTEE A65 → Creative Arts (high)",
};
const agreed = sourceFrom("consensus", 0);

const sentences: [about: string, parts: Partial<NonprofitRecord>, sentence: string][] = [
  ["nothing but a name", thin, ""],
  ["a country", { causes: [], country_code: "GB" }, "Nonprofit in the United Kingdom."],
  ["a cause", { ...thin, causes: ["veterans"] }, "Veterans’ organisation."],
  [
    "a number of people",
    { ...thin, beneficiaries_per_year: 1 },
    "Nonprofit, reaching 1 person a year.",
  ],
  [
    "the IRS",
    { ...honolulu, causes: ["creative-arts"], ...bmf(irs) },
    "Arts organisation in Honolulu, tax-exempt by a ruling of 1994; gifts are deductible from US tax.",
  ],
  [
    "the IRS of a category, whatever our mapping made of it",
    {
      ...honolulu,
      causes: ["creative-arts"],
      provenance: { causes: ofRule },
      ...bmf({ ...irs, ntee: "A65" }),
    },
    "Nonprofit in Honolulu, listed by the IRS under “Theater (NTEE A65)”, tax-exempt by a ruling of 1994; gifts are deductible from US tax.",
  ],
  [
    "the IRS of a church, beside its category",
    { ...thin, ...bmf({ foundation: "10", ntee: "B99" }) },
    "Nonprofit, listed by the IRS as a church, its word for a house of worship of any faith.",
  ],
  [
    "the IRS of a school",
    { ...thin, ...bmf({ foundation: "11", ntee: "S412" }) },
    "Nonprofit, listed by the IRS as a school.",
  ],
  [
    "the IRS of gifts, where it says nothing",
    { ...thin, ...bmf({ foundation: "12", deductibility: "0" }) },
    "Nonprofit, listed by the IRS under “hospital or medical research”; the IRS does not say whether gifts are deductible.",
  ],
  [
    "an Australian charity of its purposes",
    { ...thin, ...said(recordOf("acnc", { purposes: "advancing health" })) },
    "Nonprofit, registered charity for “advancing health”.",
  ],
  [
    "agents is left out",
    {
      ...honolulu,
      beneficiaries_per_year: 1_200,
      founded_year: 1950,
      provenance: Object.fromEntries(
        ["causes", "city", "beneficiaries_per_year", "founded_year"].map((field) => [
          field,
          agreed,
        ]),
      ),
    },
    "Nonprofit in Hawaii.",
  ],
  [
    "the IRS, which gives no date",
    { ...thin, ...bmf({ subsection: "04", deductibility: "2" }) },
    "Nonprofit, tax-exempt; gifts are not deductible from US tax.",
  ],
  [
    "a list that knows of gifts alone",
    { ...honolulu, city: null, ...said(recordOf("irs-pub78", { deductibility: "PC" })) },
    "Education organisation in Hawaii; gifts are deductible from US tax.",
  ],
  [
    "a revocation",
    {
      ...honolulu,
      ...said(recordOf("irs-bmf", irs), revoked({ revoked: "2019-05-15", posted: "2026-05-11" })),
    },
    "Education organisation in Honolulu, whose tax exemption was revoked in 2019.",
  ],
  [
    "a revocation that a later file of the register undoes",
    { ...honolulu, ...said(recordOf("irs-bmf", irs), revoked({ revoked: "2019-05-15" })) },
    "Education organisation in Honolulu, tax-exempt; gifts are deductible from US tax.",
  ],
  [
    "a register of charities",
    { country_code: "GB", city: "Leeds", ...said(recordOf("ukcat", { registered: "1990-08-02" })) },
    "Education organisation in Leeds, registered charity since 1990.",
  ],
  [
    "two registers of charities",
    {
      ...thin,
      ...said(
        recordOf("ukcat", { registered: "2012-06-07" }, "registered", "GB-CHC-1147607"),
        recordOf("ukcat", { registered: "2011-08-29" }, "registered", "GB-SC-SC042541"),
      ),
    },
    "Nonprofit, registered charity since 2011.",
  ],
  [
    "a register that has it no more",
    { ...honolulu, founded_year: 1950, ...said(recordOf("irs-bmf", irs, "gone")) },
    "Education organisation in Honolulu, founded in 1950.",
  ],
  [
    "much",
    aRichNonprofit({ status: "withdrawn", ...bmf(irs) }),
    "Education organisation in Kisumu, founded in 1998, reaching 12,345 people a year.",
  ],
];

test.each(sentences)("what %s says becomes one sentence", (_, parts, sentence) => {
  const record = aNonprofit(parts);
  expect(sentenceOf(record, toDetail(record, ""), english)).toBe(sentence);
});

const nearby: [about: string, parts: Partial<NonprofitRecord>, names: string[]][] = [
  ["nothing", thin, []],
  ["a cause", { ...thin, causes: ["health"] }, ["All of Health"]],
  ["a place", { ...honolulu, causes: [] }, ["Nonprofits in Honolulu"]],
  ["a cause and a country", {}, ["Education in Kenya", "All nonprofits in Kenya"]],
];

test.each(nearby)("the like of one of which %s is known are found in lists", (_, parts, names) => {
  const record = aNonprofit(parts);
  const found = nearbyOf(record, toDetail(record, ""), english);
  expect(found.map(({ name }) => name)).toEqual(names);
});

const listed = recordOf("irs-bmf", {});
const ukcat = (org_id: string, state?: RegisterRecord["state"]) =>
  recordOf("ukcat", {}, state, org_id);
const removed = ukcat("GB-CHC-210183", "removed");
const numbered = (type: string, org_id: string): Partial<NonprofitRecord> => ({
  registrations: [{ country_code: "KE", type, registration_number: "1", org_id }],
});

type Tone = ReturnType<typeof standingLine>["tone"];

const inIrs = "Listed in the IRS Business Master File, as of 14 April 2026.";
const unknown = "Not found in any register we use. That alone says nothing bad.";
const lines: [about: string, parts: Partial<NonprofitRecord>, tone: Tone, text: string][] = [
  ["its register lists", said(listed), "good", inIrs],
  [
    "two registers list by their own numbers",
    said(listed, recordOf("acnc", {}, "registered", "AU-ABN-51824753556")),
    "good",
    `${inIrs} Listed in the ACNC Charity Register, as of 14 April 2026.`,
  ],
  [
    "the registers of England and of Scotland list",
    said(ukcat("GB-CHC-1089464"), ukcat("GB-SC-SC041666")),
    "good",
    "Registered with the Charity Commission for England and Wales, as of 14 April 2026. Registered with the Scottish Charity Regulator (OSCR), as of 14 April 2026.",
  ],
  [
    "a register lists that is called by its regulator",
    said(recordOf("ccni", {}, "registered", "GB-NIC-100034")),
    "good",
    "Registered with the Charity Commission for Northern Ireland, as of 14 April 2026.",
  ],
  [
    "lost its exemption after it was listed",
    said(listed, revoked({ posted: "2026-05-11" })),
    "bad",
    "Tax exemption revoked (IRS Auto-Revocation List, as of 14 April 2026).",
  ],
  [
    "is listed again after it lost its exemption",
    said(listed, revoked({ posted: "2019-05-11" })),
    "good",
    "Tax exemption revoked, and given back since (IRS Business Master File, as of 14 April 2026).",
  ],
  [
    "its register took off",
    said(removed),
    "bad",
    "Removed from its register (Charity Commission for England and Wales, as of 14 April 2026).",
  ],
  [
    "left its register",
    said(recordOf("irs-bmf", {}, "gone")),
    "bad",
    "No longer in its register (IRS Business Master File, as of 14 April 2026).",
  ],
  ["no register speaks of", numbered("NGO", "KE-NGC-1"), "unknown", unknown],
  [
    "only left a list of revocations",
    said(recordOf("irs-revocations", {}, "gone")),
    "unknown",
    unknown,
  ],
  [
    "is invented",
    numbered("Sample register", "XS-SAMPLE-0000001"),
    "unknown",
    "Nothing to check: this organisation is invented sample data.",
  ],
];

test.each(lines)("the standing of one that %s is said in one line", (_, parts, tone, text) => {
  expect(standingLine(aNonprofit(parts), english)).toMatchObject({ tone, text });
});

test.each([
  ["Yes. Listed", recordOf("irs-bmf", { subsection: "03" })],
  // A club: tax-exempt, and no charity.
  ["Listed", recordOf("irs-bmf", { subsection: "07" })],
  ["Yes. Registered", ukcat("GB-CHC-1089464")],
  ["No. Tax exemption revoked", revoked({ posted: "2026-05-11" })],
  ["No. Removed", removed],
  ["No longer", recordOf("irs-bmf", {}, "gone")],
])("the question whether it is a registered charity is answered %p", (begins, record) => {
  const line = standingLine(aNonprofit({ name: "Hope", register_records: [record] }), english);
  expect(line.question).toBe("Is Hope a registered charity?");
  expect(line.answer).toStartWith(begins);
});

test("it is said in the language of the page", () => {
  const spanish = openTexts("es", es);
  const record = aNonprofit(said(listed));
  expect(standingLine(record, spanish).text).toContain("Figura en el registro (");
  const purposes = "advancing health; advancing culture";
  const charity = aNonprofit(said(recordOf("acnc", { purposes, registered: "2012-12-03" })));
  expect(sentenceOf(charity, toDetail(charity, ""), spanish)).toEndWith(
    "desde 2012 para «promover la salud; promover la cultura».",
  );
});

test("the size in a register's words is said where it has no figures", () => {
  const record = aNonprofit(said(recordOf("acnc", { size: "Small" })));
  expect(sizeOf(toDetail(record, ""), english)).toBe("Small (size by yearly income)");
  expect(sizeOf(toDetail(record, ""), openTexts("es", es))).toStartWith("Pequeña (");
});
