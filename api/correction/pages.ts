import { Elysia } from "elysia";
import { addresses } from "#content/contract/addresses.ts";
import { pathOf } from "#api/http/route.ts";
import type { Context } from "#api/context.ts";
import {
  drawnForm,
  type FormPages,
  secretsIn,
  toPage,
  unknownLink,
  valuesIn,
} from "#api/http/form.ts";
import { Refused } from "#api/http/problem.ts";
import { textIn } from "#api/http/query.ts";
import { addressIn, foundFor, profileFor, profileOfForm } from "#api/search/find-profile.ts";
import { CorrectionBody, type CorrectionField } from "#content/contract/correction.ts";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import { languages } from "#content/language/languages.ts";
import { pathIn } from "#content/language/texts.ts";
import { fitted } from "#content/contract/problem.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { usualDays } from "#content/operation/usual-wait-store.ts";
import { corrections } from "#content/store/tables/enrichment.ts";
import { type CorrectWorld, correctionStatus } from "#content/correction/correct.ts";

/** The form of /corrections and the page of its status, drawn by the site for one reader each. */
export function correctionPages(context: Context, verb: CorrectWorld) {
  const path = pathOf(addresses.correctionStatusForm);
  const routes = new Elysia().get(path, ({ request }) =>
    toPage(addresses.correctionStatus, request),
  );
  routes.post(path, async ({ body, request }) => {
    const { secret = "" } = valuesIn(body);
    const { token } = secretsIn(secret);
    const status = await correctionStatus(verb, token);
    if (status === null) return drawnForm(context, request, statusPage({ said: unknownLink }), 404);
    const days = await usualDays(context.store, corrections);
    const name = (await recordBySlug(context.store, status.slug))?.name ?? status.slug;
    const known = { status, name, secret: token, usualDays: days };
    return drawnForm(context, request, statusPage(known));
  });
  for (const language of languages.keys()) {
    routes.get(pathIn(language, addresses.corrections.path), async ({ request }) =>
      drawnForm(context, request, await formAt(context, request)),
    );
  }
  return routes;
}

/** The step of the form that an address asks for. */
async function formAt(context: Context, request: Request): Promise<FormPageOf<"/corrections">> {
  const q = textIn(request, "q", 400);
  const named = textIn(request, "profile", 2_048) ?? addressIn(q);
  if (named === null) return { page: "/corrections", ...(await foundFor(context, q)) };
  const profile = await profileFor(context, named);
  const field = textIn(request, "field");
  return field === null
    ? { page: "/corrections", step: "field", profile }
    : filling(profile, readField(field), null);
}

/** Throws Refused for a name that no field has. */
function readField(name: string): CorrectionField {
  const read = fitted(CorrectionBody.shape.field, name);
  if (read.ok) return read.value;
  const detail = read.failure[0]?.message ?? "No field has this name.";
  throw new Refused({ status: 400, code: "invalid_parameter", detail });
}

type Filling = Extract<FormPageOf<"/corrections">, { step: "fill" }>;

const filling = (
  profile: Filling["profile"],
  field: CorrectionField,
  sent: Filling["sent"],
): Filling => ({
  page: "/corrections",
  step: "fill",
  profile,
  field,
  sent,
  key: crypto.randomUUID(),
});

const statusPage = (
  known: Partial<FormPageOf<"/corrections/status">>,
): FormPageOf<"/corrections/status"> => ({
  page: "/corrections/status",
  status: null,
  name: "",
  secret: "",
  said: null,
  usualDays: null,
  ...known,
});

/** The pages by which the form itself is answered. */
export const answersToForm = (
  context: Context,
  slug: string,
  { field = "" }: Record<string, string>,
): FormPages => ({
  draw: context.draw,
  status: (said) => statusPage({ said }),
  again: async (sent) => {
    const profile = await profileOfForm(context, slug);
    if (profile === undefined) return null;
    const read = fitted(CorrectionBody.shape.field, field);
    return read.ok
      ? filling(profile, read.value, sent)
      : { page: "/corrections", step: "field", profile };
  },
});
