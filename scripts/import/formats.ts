import { acnc } from "./acnc.ts";
import type { CsvFormat } from "./format.ts";
import { irsBmf } from "./irs-bmf.ts";
import { irs1023ez, irs990 } from "./irs-prose.ts";
import { ukcat } from "./ukcat.ts";

export const csvFormats: readonly CsvFormat[] = [irsBmf, irs990, irs1023ez, ukcat, acnc];

/** All names that `import` knows, ours last. */
export const formatNames = [...csvFormats.map(({ name }) => name), "ndjson"];
