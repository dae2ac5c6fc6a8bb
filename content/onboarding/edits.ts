import { z } from "zod";
import { CauseId } from "#content/contract/cause.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { type OnboardingRequest, readField } from "./read.ts";

/** What an operator changes of a request while approving it. Null: the value is not taken over. */
export type OnboardingEdits = {
  name?: string;
  mission?: string | null;
  website?: string | null;
  city?: string | null;
  country_code?: string | null;
  causes?: string[];
};

const text = z.string().nullable().optional();

/** `value` of an approval: never a wallet or a contact, which only the organisation can vouch for. */
const EditBody = z.strictObject({
  name: z.string().optional(),
  mission: text,
  website: text,
  city: text,
  country: text,
  causes: z.array(CauseId).max(8).optional(),
});

/** What can be edited, as the JSON text in which it comes back; `approved` are the edits of a first operator. */
export const editable = (request: OnboardingRequest, approved: string | null): string =>
  JSON.stringify({
    ...(request.claim_slug === null ? { name: request.name, causes: [] } : {}),
    mission: request.mission,
    website: request.website,
    city: request.city,
    country: countryName(request.country_code),
    ...objectIn(approved ?? ""),
  });

type Edited = Result<OnboardingEdits, { message: string }>;

/** Reads an edited request: a JSON object in a text. Null is none. Checked as the organisation's own values are. */
export function readEdits(value: string | null, { thisYear }: { thisYear: number }): Edited {
  if (value === null || value.trim() === "") return ok({});
  const parsed = EditBody.safeParse(objectIn(value));
  if (!parsed.success) return fail({ message: howToEdit });
  const { causes, ...texts } = parsed.data;
  const edits: OnboardingEdits = causes === undefined ? {} : { causes: [...new Set(causes)] };
  for (const [field, given] of Object.entries(texts)) {
    const isGiven = typeof given === "string";
    const read = isGiven ? readField(field as keyof typeof texts, given, thisYear) : ok(null);
    if (!read.ok) return fail({ message: read.failure.message });
    Object.assign(edits, { [field === "country" ? "country_code" : field]: read.value });
  }
  return ok(edits);
}

const howToEdit =
  'To edit while approving, send value as a JSON object with any of name (registrations), mission, website, city, country and causes, for example {"city": "Kisumu", "causes": ["education"]}. null leaves a value out.';
