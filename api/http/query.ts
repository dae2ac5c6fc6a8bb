import * as contract from "#content/contract/operations/query.ts";
import { parametersOf } from "./route.ts";

export type Query = ReturnType<typeof queryOf>;

/** The query of an operator's page, read as the contract reads queries. What is absent, empty or not usable is null. */
export function queryOf(url: string) {
  const given = parametersOf(url);
  return {
    /** A text without control characters, trimmed, at most `lengthMax` characters. */
    text: (name: string, lengthMax?: number): string | null =>
      contract.cleaned(given[name] ?? "", lengthMax) ?? null,
    /** A whole number from 1. */
    number: (name: string): number | null =>
      contract.number(name, "", 1).safeParse(given[name]).data ?? null,
    /** One of a closed list. */
    choice: <const Values extends readonly [string, ...string[]]>(
      name: string,
      values: Values,
    ): Values[number] | null =>
      contract.choice(name, values, "", values[0]).safeParse(given[name]).data ?? null,
  };
}

/** A path with the parameters that have a value. */
export function placeWith(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
