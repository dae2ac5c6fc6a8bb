import { expect, test } from "bun:test";
import es from "#content/editorial/texts/es.json";
import { openTexts } from "#content/language/texts.ts";
import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { standingLine } from "#site/profile/profile-sentence.ts";
import { aNonprofit } from "#test/support/records.ts";

const said = (
  register: string,
  state: RegisterRecord["state"],
  more: Partial<RegisterRecord> = {},
): RegisterRecord => ({
  ...{ org_id: "US-EIN-530196605", register, state, name: "X", scope: "x" },
  ...{ as_of: "2026-04-14", facts: {}, ...more },
});
const posted = (date: string) => ({ facts: { posted: date } });
const numbered = (type: string, org_id: string): Partial<NonprofitRecord> => ({
  registrations: [{ country_code: "KE", type, registration_number: "1", org_id }],
});

type Tone = ReturnType<typeof standingLine>["tone"];

const lines: [about: string, parts: Partial<NonprofitRecord>, tone: Tone, text: string][] = [
  [
    "its register lists",
    { register_records: [said("irs-bmf", "registered")] },
    "good",
    "registered (IRS Business Master File, as of 14 April 2026)",
  ],
  [
    "two registers list by their own numbers",
    {
      register_records: [
        said("irs-bmf", "registered"),
        said("acnc", "registered", { org_id: "AU-ABN-51824753556" }),
      ],
    },
    "good",
    "registered (IRS Business Master File, as of 14 April 2026); registered (ACNC Charity Register, as of 14 April 2026)",
  ],
  [
    "lost its exemption after it was listed",
    {
      register_records: [
        said("irs-bmf", "registered"),
        said("irs-revocations", "revoked", posted("2026-05-11")),
      ],
    },
    "bad",
    "tax exemption revoked (IRS Auto-Revocation List, as of 14 April 2026)",
  ],
  [
    "is listed again after it lost its exemption",
    {
      register_records: [
        said("irs-bmf", "registered"),
        said("irs-revocations", "revoked", posted("2019-05-11")),
      ],
    },
    "good",
    "tax exemption once revoked, and given back (IRS Business Master File, as of 14 April 2026)",
  ],
  [
    "its register took off",
    { register_records: [said("ukcat", "removed", { org_id: "GB-CHC-210183" })] },
    "bad",
    "removed from its register (Charity registers of the United Kingdom, as of 14 April 2026)",
  ],
  [
    "left its register",
    { register_records: [said("irs-bmf", "gone")] },
    "bad",
    "no longer in its register (IRS Business Master File, as of 14 April 2026)",
  ],
  [
    "no register speaks of",
    numbered("NGO", "KE-NGC-1"),
    "unknown",
    "not known; no register that we read lists it",
  ],
  [
    "only left a list of revocations",
    { register_records: [said("irs-revocations", "gone")] },
    "unknown",
    "not known; no register that we read lists it",
  ],
  [
    "is invented",
    numbered("Sample register", "XS-SAMPLE-0000001"),
    "unknown",
    "nothing to check: this organisation is invented sample data",
  ],
];

test.each(lines)("the standing of one that %s is said in one line", (_, parts, tone, text) => {
  expect(standingLine(aNonprofit(parts))).toEqual({ tone, text });
});

test("it is said in the language of the page", () => {
  const record = aNonprofit({ register_records: [said("irs-bmf", "registered")] });
  expect(standingLine(record, openTexts("es", es)).text).toContain("registrada (");
});
