import { z } from "zod";
import { named } from "#content/contract/base/json.ts";

/** One answer to what a giver asks about an organisation, by whom, and as of when. */
export const GiverAnswer = named("GiverAnswer", {
  org_id: z.string().describe("Whom it is about, for example US-EIN-530196605"),
  question: z
    .enum([
      "deductible",
      "filing",
      "foundation_type",
      "daf",
      "latest_return",
      "revoked",
      "reinstated",
      "merged_into",
    ])
    .describe(
      "deductible: gifts, from the giver's tax (of a British charity: Gift Aid); filing: the yearly return it has to file; foundation_type: what kind of charity it is; daf: whether a donor-advised fund may give to it; latest_return: the end of the newest period that a return covers; revoked, reinstated: when; merged_into: its successor. The last two only where that happened",
    ),
  value: z
    .string()
    .describe(
      "`not known` is an answer. deductible: yes, no, by treaty; filing: exempt, group return, or the form; foundation_type: public charity, supporting organisation, private operating foundation, private foundation, no 501(c)(3); daf: yes, expenditure_responsibility; latest_return: YYYY-MM or YYYY-MM-DD; revoked, reinstated: YYYY-MM-DD, yes, no; merged_into: an org-id",
    ),
  reason: z.string().describe("Why, in words"),
  code: z.string().optional().describe("The register's own code, or the form, behind the answer"),
  name: z.string().optional().describe("Of merged_into: the successor's name"),
  age_months: z.int().min(0).optional().describe("Of latest_return: months from its end to as_of"),
  register: z.string().nullable().describe("Who says so, for example irs-bmf; null: no one does"),
  as_of: z.string().nullable().describe("YYYY-MM-DD: the date of the register's file"),
});
export type GiverAnswer = z.infer<typeof GiverAnswer>;
