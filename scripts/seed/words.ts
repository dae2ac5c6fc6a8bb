import causes from "./causes.json";

export type SampleCauseId = keyof typeof causes;
export const causeIds = Object.keys(causes) as SampleCauseId[];

/** What the texts of a cause are made of: groups of people, activities, programmes. */
export type CauseWords = {
  who: readonly string[];
  acts: readonly string[];
  programs: readonly { name: string; description: string }[];
};

export const richCountries: ReadonlySet<string> = new Set([
  "US",
  "GB",
  "CA",
  "AU",
  "IE",
  "NZ",
  "FR",
  "ES",
  "PT",
  "IT",
  "CL",
  "DE",
  "NL",
  "SE",
  "NO",
  "DK",
  "PL",
]);

const everywhere = new Map<SampleCauseId, CauseWords>(causeIds.map((id) => [id, causes[id]]));
const inRichCountries = new Map<SampleCauseId, CauseWords>(
  causeIds.map((id) => {
    const { who, acts, programs, not_in_rich_countries } = causes[id];
    const fits = (word: string): boolean => !(not_in_rich_countries as string[]).includes(word);
    return [
      id,
      {
        who: who.filter(fits),
        acts: acts.filter(fits),
        programs: programs.filter(({ name }) => fits(name)),
      },
    ];
  }),
);

/** Nobody hands out bed nets in Norway: the words of a cause that suit a country. */
export const wordsOf = (cause: SampleCauseId, country: string): CauseWords =>
  (richCountries.has(country) ? inRichCountries : everywhere).get(cause) ?? causes[cause];
