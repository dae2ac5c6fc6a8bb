import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import {
  causeMapping,
  type CauseMapping,
  type MappingTables,
} from "#content/register/cause-mapping.ts";

const folder = join(import.meta.dirname, "../../content/editorial/mapping");

/** The mapping of registers' codes to causes, from the tables in content/editorial/mapping. */
export const loadCauseMapping = (): CauseMapping =>
  causeMapping({
    ntee: table("ntee", "NTEE_TO_CAUSES"),
    activity: table("activity", "ACTIVITY_TO_NTEE"),
    keywords: table("keywords", "NAME_KEYWORDS_TO_CAUSES"),
    ukcat: table("ukcat", "UKCAT_TO_CAUSES"),
    icnptso: table("icnptso", "ICNPTSO_TO_CAUSES"),
    acnc: table("acnc", "ACNC_TO_CAUSES"),
  });

type Tables = { [Name in keyof MappingTables]: MappingTables[Name][number] };

// Type of a row by the name of its table; causeMapping refuses a cause that does not exist.
const table = <Name extends keyof Tables>(_: Name, file: string): Tables[Name][] =>
  parse<Tables[Name]>(readFileSync(join(folder, `${file}.csv`)), { columns: true, bom: true });
