import { z } from "zod";
import { CauseId } from "#content/contract/cause.ts";
import { onboardingLengthMax } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { countryCode, countryName } from "#content/nonprofit/country.ts";
import { objectIn } from "#content/contract/json-object.ts";
import type { OnboardingRequest } from "./read.ts";
import { characterCount, unsafeCharacter } from "#content/nonprofit/text.ts";
import { checkValue } from "#content/enrichment/value.ts";

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

/** What can be edited, as the JSON text in which it comes back. */
export const editable = (request: OnboardingRequest): string =>
  JSON.stringify({
    ...(request.claim_slug === null ? { name: request.name, causes: [] } : {}),
    mission: request.mission,
    website: request.website,
    city: request.city,
    country: countryName(request.country_code),
  });

type Edited = Result<OnboardingEdits, { message: string }>;

/** Reads an edited request: a JSON object in a text. Null is none. Checked as the organisation's own values are. */
export function readEdits(value: string | null, { thisYear }: { thisYear: number }): Edited {
  if (value === null || value.trim() === "") return ok({});
  const parsed = EditBody.safeParse(objectIn(value));
  if (!parsed.success) return fail({ message: howToEdit });
  const { name, country, causes, ...texts } = parsed.data;
  const edits: OnboardingEdits = causes === undefined ? {} : { causes: [...new Set(causes)] };
  const parts = [
    editedName(name),
    editedCountry(country),
    ...(["mission", "website", "city"] as const).map((field) =>
      editedText(field, texts[field], thisYear),
    ),
  ];
  for (const part of parts) {
    if (!part.ok) return part;
    Object.assign(edits, part.value);
  }
  return ok(edits);
}

function editedName(given: string | undefined): Edited {
  if (given === undefined) return ok({});
  const name = given.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
  const usable =
    name !== "" &&
    characterCount(name) <= onboardingLengthMax.name &&
    unsafeCharacter(name, { prose: false }) === null;
  return usable
    ? ok({ name })
    : fail({ message: "name cannot be used: send the organisation's name, with letters." });
}

function editedCountry(given: string | null | undefined): Edited {
  if (given === undefined) return ok({});
  if (given === null) return ok({ country_code: null });
  const country_code = countryCode(given);
  return country_code === null
    ? fail({ message: "country is unknown: send an English country name or a two-letter code." })
    : ok({ country_code });
}

function editedText(
  field: "mission" | "website" | "city",
  given: string | null | undefined,
  thisYear: number,
): Edited {
  if (given === undefined) return ok({});
  if (given === null) return ok({ [field]: null });
  const checked = checkValue(field, given, { thisYear });
  return checked.ok
    ? ok({ [field]: checked.value.value })
    : fail({ message: checked.failure.message });
}

const howToEdit =
  'To edit while approving, send value as a JSON object with any of name (registrations), mission, website, city, country and causes, for example {"city": "Kisumu", "causes": ["education"]}. null leaves a value out.';
