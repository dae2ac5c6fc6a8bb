import { Elysia } from "elysia";
import { addresses } from "#content/contract/addresses.ts";
import { pathOf } from "#api/http/route.ts";
import type { Context } from "#api/context.ts";
import { crossSiteWrite } from "#api/http/cross-site.ts";
import {
  drawnForm,
  type FormPages,
  secretsIn,
  toPage,
  unknownLink,
  valuesIn,
} from "#api/http/form.ts";
import { Refused, refusalOf } from "#api/http/problem.ts";
import { textIn } from "#api/http/query.ts";
import { rateLimited } from "#api/http/rate-limit.ts";
import { addressIn, foundFor, profileFor, profileOfForm } from "#api/search/find-profile.ts";
import type { FormPageOf, Said } from "#content/contract/form-pages.ts";
import { languages } from "#content/language/languages.ts";
import { pathIn } from "#content/language/texts.ts";
import { onboardingByToken } from "#content/onboarding/store.ts";
import { usualDays } from "#content/operation/usual-wait-store.ts";
import { onboardingSubmissions } from "#content/store/tables/onboarding.ts";
import { type HostProofWorld, proveHost } from "#content/onboarding/prove-host.ts";
import { digestOf, type OnboardingKeys } from "#content/onboarding/keys.ts";
import {
  onboardingStatus,
  withdrawn,
  withdrawOnboarding,
} from "#content/onboarding/onboarding-status.ts";
import { hostProofAnswers } from "./host-proof.ts";

type Verb = Parameters<typeof onboardingStatus>[0] & OnboardingKeys;

/** The form of /onboard and the page of its status, drawn by the site for one reader each. */
export function onboardPages(
  context: Context,
  { verb, proving }: { verb: Verb; proving: HostProofWorld },
) {
  const path = pathOf(addresses.onboardStatusForm);
  const routes = new Elysia().get(path, ({ request }) => toPage(addresses.onboardStatus, request));
  routes.post(path, async ({ body, request }) => {
    const { secret = "", code = "", do: asked = "" } = valuesIn(body);
    // To look is a read; what a button does asks others or writes.
    const refused = asked === "" ? null : crossSiteWrite("onboard", request);
    if (refused !== null) return refused;
    const allowance = asked === "" ? null : await context.limits.request("onboard", request);
    if (allowance?.allowed === false) throw new Refused(rateLimited(allowance));
    const { token, code: mailed } = secretsIn(secret);
    const said = await act({ verb, proving }, asked, { token, code });
    const status = await onboardingStatus(verb, digestOf(token));
    const page = statusPage({ status, secret: token, code: code || mailed, said });
    const days = status === null ? null : await usualDays(context.store, onboardingSubmissions);
    if (status !== null) return drawnForm(context, request, { ...page, usualDays: days });
    return drawnForm(context, request, { ...page, said: unknownLink }, 404);
  });
  for (const language of languages.keys()) {
    routes.get(pathIn(language, addresses.onboard.path), async ({ request }) =>
      drawnForm(context, request, await formAt(context, request)),
    );
  }
  return routes;
}

/** The step of the form that an address asks for. */
async function formAt(context: Context, request: Request): Promise<FormPageOf<"/onboard">> {
  const q = textIn(request, "q", 400);
  const claimed = textIn(request, "claim", 2_048) ?? addressIn(q);
  if (claimed !== null) return filling(await profileFor(context, claimed), null);
  if (textIn(request, "register") === null)
    return { page: "/onboard", ...(await foundFor(context, q)) };
  const values: Record<string, string> = q === null ? {} : { name: q };
  return filling(null, { values, wrongs: [], refusal: null });
}

type Filling = Extract<FormPageOf<"/onboard">, { step: "fill" }>;

const filling = (profile: Filling["profile"], sent: Filling["sent"]): Filling => ({
  page: "/onboard",
  step: "fill",
  profile,
  sent,
  key: crypto.randomUUID(),
});

const statusPage = (
  known: Partial<FormPageOf<"/onboard/status">>,
): FormPageOf<"/onboard/status"> => ({
  page: "/onboard/status",
  status: null,
  secret: "",
  code: "",
  said: null,
  usualDays: null,
  ...known,
});

/** The pages by which the form itself is answered. */
export const answersToForm = (
  context: Context,
  { claim_slug = "" }: Record<string, string>,
): FormPages => ({
  draw: context.draw,
  status: (said) => statusPage({ said }),
  again: async (sent) => {
    const profile = claim_slug === "" ? null : await profileOfForm(context, claim_slug);
    return profile === undefined ? null : filling(profile, sent);
  },
});

/** Does what a button of the status page says, and answers what came of it; null for none. */
async function act(
  { verb, proving }: { verb: Verb; proving: HostProofWorld },
  asked: string,
  { token, code }: { token: string; code: string },
): Promise<Said | null> {
  if (asked === "withdraw") {
    const status = await withdrawOnboarding(verb, digestOf(token));
    return status?.reason === withdrawn ? { kind: "withdrawn", detail: null } : null;
  }
  const bodies = { look: {}, mail: { email: true }, confirm: { code } };
  if (!Object.hasOwn(bodies, asked)) return null;
  const one = await onboardingByToken(verb.store, digestOf(token));
  if (one === null) return null;
  const outcome = await proveHost(proving, one.id, bodies[asked as keyof typeof bodies]);
  if (!outcome.ok) {
    const { kind } = outcome.failure;
    return { kind, detail: refusalOf(hostProofAnswers, outcome.failure).detail };
  }
  const { state, message: detail } = outcome.value;
  return { kind: asked === "mail" && state === "not_proven" ? "mail_sent" : state, detail };
}
