import {
  type FilterName,
  type FilterParameters,
  causeIds,
  givenFilters,
} from "#content/contract/browse.ts";
import countries from "#content/editorial/countries.json";
import registerPlaces from "#content/editorial/register-places.json";
import { wantedBy } from "#content/nonprofit/filters.ts";
import { fold } from "#content/nonprofit/text.ts";
import { nearestWords } from "#content/contract/base/edit-distance.ts";
import { causeOf, typedWords } from "./query.ts";

const nearestMax = 3;
const byText = (values: readonly string[]) => new Map(values.map((value) => [fold(value), value]));
const knownValues: { readonly [Name in FilterName]?: ReadonlyMap<string, string> } = {
  cause: byText(causeIds),
  country: byText(countries.map(({ name }) => name)),
  region: byText(
    [registerPlaces.states, ...Object.values(registerPlaces.provinces)].flatMap(
      Object.values<string>,
    ),
  ),
};

/** Values that no nonprofit can have, and regions that are nearly a known one, each with the known values nearest to it. */
export const unknownValues = (filters: FilterParameters) =>
  givenFilters(filters).flatMap(([filter, asked]) => {
    const [wanted, known = byText([])] = [wantedBy(filter, asked), knownValues[filter]];
    if (wanted !== null && (filter !== "region" || known.has(wanted))) return [];
    const [typed, texts] = [fold(asked), [...known.keys()]];
    const begun = texts.filter((text) => typed.length > 1 && text.startsWith(typed));
    const named = filter === "cause" ? causeOf(typedWords(asked)) : null;
    const likely = [...begun, ...nearestWords(typed, texts)].map((text) => known.get(text) ?? text);
    const near = [...new Set([named ?? [], likely].flat())].slice(0, nearestMax);
    const nearest = near.length > 0 ? `The nearest: ${near.join(", ")}.` : howToName;
    const message = `No ${filter} "${asked}" is known here. ${nearest}`;
    return wanted !== null && near.length === 0 ? [] : [{ filter, near, message }];
  });

const howToName = "GET /api/causes lists causes; send a country by its name or ISO 3166 code.";

/** What to say of an answer with so many nonprofits: null when there are some, or all values may be right. */
export const unknownNote = (filters: FilterParameters, found: number): string | null =>
  (found > 0 ? [] : unknownValues(filters)).map(({ message }) => message).join(" ") || null;
