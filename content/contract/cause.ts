import { z } from "zod";
import { named } from "./base/shape.ts";
import causes from "#content/editorial/causes.json";

/** The 29 cause areas, in the contract's order. Stored data uses this closed list; a query may name any text. */
export const causeIds = causes.map((cause) => cause.id);

/** What filters and counts call profiles without a cause: no code of their registers fits one. */
export const noCause = "none";

const names = new Map(causes.map(({ id, name }) => [id, name]));

/** The English name of a cause area; any other text as it is. */
export const causeName = (id: string): string => names.get(id) ?? id;

export const CauseId = z.enum(causeIds).meta({ id: "CauseId" });
export type CauseId = z.infer<typeof CauseId>;

/** The spec names the number twice (`nonprofit_count` and `count`); both are served. */
export const Cause = named("Cause", {
  id: z.string().describe("Used as the `cause` parameter"),
  name: z.string(),
  description: z.string(),
  nonprofit_count: z.int().min(0).describe("Nonprofits listed under this cause"),
  count: z.int().min(0).describe("The same number as nonprofit_count"),
});
export type Cause = z.infer<typeof Cause>;

export const CauseList = named("CauseList", { causes: z.array(Cause) });
export type CauseList = z.infer<typeof CauseList>;
