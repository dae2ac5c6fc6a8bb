import kinds from "#content/editorial/kinds.json";
import type { RegisterRecord } from "./record.ts";

/**
 * A kind of organisation as people ask for it in English, and in Spanish and French (`foreign`), and the codes by which
 * registers know it: "ntee:K3" is whatever NTEE code begins so, "cause:health" a cause of this directory. Words are folded.
 */
export type Kind = {
  words: readonly string[];
  foreign: readonly string[];
  codes: readonly string[];
};

export const causePrefix = "cause:";
const nteeLengthMax = 3;

/** All kinds that can be asked for. */
export const allKinds: readonly Kind[] = kinds;
const searched = new Set(allKinds.flatMap(({ codes }) => codes));

/** The codes of registers by which a nonprofit is looked for. */
export const kindCodes = (records: readonly Pick<RegisterRecord, "facts">[]): string[] =>
  records.flatMap(({ facts }) =>
    [
      ...beginnings(text(facts["ntee"])).map((code) => `ntee:${code}`),
      `irs:${text(facts["foundation"])}`,
      ...text(facts["tags"])
        .split(";")
        .map((tag) => `ukcat:${tag}`),
    ].filter((code) => searched.has(code)),
  );

const beginnings = (code: string): string[] =>
  Array.from({ length: Math.min(nteeLengthMax, code.length) }, (_, at) => code.slice(0, at + 1));

const text = (fact: string | number | undefined): string => String(fact ?? "");
