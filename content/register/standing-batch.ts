import type {
  Organisation,
  OrganisationItem,
  OrganisationsAnswer,
} from "#content/contract/standing.ts";

type Item = Pick<OrganisationItem, "query" | "error">;

/** The answer about many numbers; registers with their licences, and meanings, are given once and referred to. */
export function batchAnswer(
  answers: readonly (Item & Partial<Organisation>)[],
): OrganisationsAnswer {
  const ids = new Map<string, string>();
  const registers: OrganisationsAnswer["registers"] = {};
  const meanings: Record<string, string> = {};
  const idOf = (what: string, text: string): string => {
    const id = ids.get(text) ?? (what in meanings ? `${what} (${ids.size})` : what);
    ids.set(text, id);
    meanings[id] = text;
    return id;
  };
  const referring = <
    Value extends { value: string; meaning: string; register_name: string | null },
  >(
    kind: string,
    { meaning, register_name: _name, ...rest }: Value,
  ) => ({ ...rest, meaning_id: idOf(`${kind}: ${rest.value}`, meaning) });
  const organisations = answers.map((answer): OrganisationItem => {
    const {
      query,
      error,
      standing,
      deductibility,
      giver_answers,
      registers: rows,
      ...identity
    } = answer;
    if (standing === undefined) return { query, ...(error && { error }) };
    return {
      query,
      ...identity,
      standing: referring("standing", standing),
      deductibility: deductibility && referring("deductibility", deductibility),
      giver_answers: giver_answers?.map(({ reason, ...giverAnswer }) => ({
        ...giverAnswer,
        reason_id: idOf(`${giverAnswer.question}: ${giverAnswer.value}`, reason),
      })),
      registers: rows?.map(({ register_name, licence, attribution, ...row }) => {
        registers[row.register] = { register_name, licence, attribution };
        return row;
      }),
    };
  });
  return { count: organisations.length, registers, meanings, organisations };
}
