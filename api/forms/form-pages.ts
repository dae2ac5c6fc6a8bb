import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { isSentByForm, valuesIn } from "#api/http/body.ts";
import { formOf } from "#api/http/headers.ts";
import {
  type FailureTable,
  noPages,
  problem,
  type Refusal,
  RefusalError,
  refusalOf,
  refuse,
} from "#api/http/problem.ts";
import { textIn } from "#api/http/query.ts";
import { pathOf } from "#api/http/route.ts";
import { searched } from "#api/search/routes.ts";
import { type Address, pathIn } from "#content/contract/addresses.ts";
import { fillDetail } from "#content/contract/base/fill.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { FindStep, FormPage, FormPageOf, SentForm } from "#content/contract/form-pages.ts";
import type { RequestStore } from "#content/requests/request-store.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import { unfiltered } from "#content/contract/search.ts";
import { languages } from "#content/language/languages.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { slugIn } from "#content/nonprofit/slug.ts";
import { toDetail } from "#content/nonprofit/wire.ts";

// Forms of the site, sent by browsers without a script (docs/decisions/32-forms.md).

type StatusPage = FormPageOf<"/onboard/status" | "/corrections/status">;

/** A form about a profile: its addresses, and the page on which its sender sees the status. */
type Form = {
  page: Address;
  statusPage: Address;
  /** The address to which the status page sends the secret of its link. */
  statusForm: Address;
  /** The store in which requests of this form wait. */
  requests: Pick<RequestStore, "usualDays">;
  /** The step of the form that an address asks for. */
  step: (request: Request) => Promise<FormPage>;
  /** The form with the values that were sent, about a profile or none (null). Null when there is no such form. */
  fill: (profile: NonprofitDetail | null, sent: SentForm) => FormPage | null;
  /** The status page for the link in `values`; its `status` is null when the link is unknown. */
  status: (request: Request, values: Values) => Promise<StatusPage | Response>;
  unknown: StatusPage;
};

type Values = Readonly<Record<string, string>>;

/** The pages of a form, drawn for one reader and never cached, and the function that answers its sender. */
export function openForm(context: Context, form: Form) {
  const { page, statusPage, statusForm, requests } = form;
  const draw = async (request: Request, formPage: FormPage, status = 200) =>
    context.draw?.form(formPage, formOf(request), status) ?? noPages();
  const routes = new Elysia()
    // A browser may open the address that takes the status form by GET, without the secret.
    .get(pathOf(statusForm), ({ request }) => goTo(statusPage.path, request))
    .post(pathOf(statusForm), async ({ body, request }) => {
      const statusView = await form.status(request, valuesIn(body));
      if (statusView instanceof Response) return statusView;
      return statusView.status === null
        ? draw(request, { ...statusView, notice: { kind: "unknown_link", detail: null } }, 404)
        : draw(request, { ...statusView, usualDays: await requests.usualDays(context.store) });
    });
  for (const language of languages.keys()) {
    routes.get(pathIn(language, page.path), async ({ request }) =>
      draw(request, await form.step(request)),
    );
  }
  const taken = (request: Request, accepted: Acceptance) => {
    const { status_url } = accepted;
    if (status_url !== null) {
      return goTo(status_url.slice(new URL(status_url).origin.length), request);
    }
    const notice = { kind: "waits_already", detail: null } as const;
    const drawn = context.draw?.form({ ...form.unknown, notice }, formOf(request));
    return drawn ?? Response.json(accepted);
  };
  const again = async (slug: string, sent: SentForm): Promise<FormPage | null> => {
    if (slug === "") return form.fill(null, sent);
    const profile = await profileNamed(context, slug);
    return profile.ok ? form.fill(profile.value, sent) : null;
  };
  return {
    pages: routes,
    /**
     * Answers a program with JSON. The sender of a form gets, in the language of its page, a redirect to the status page
     * (a relative one, because the directory may be known by several names), or the form again with the values and what is
     * wrong with them. `slug` is that of the profile; "" for none.
     */
    answer: async <Failure extends { kind: string }>(
      outcome: Result<Acceptance, Failure>,
      failures: FailureTable<Failure>,
      { request, values, slug }: { request: Request; values: Values; slug: string },
    ): Promise<Response | Acceptance> => {
      if (!isSentByForm(request)) {
        return outcome.ok ? outcome.value : refuse(failures, outcome.failure);
      }
      if (outcome.ok) return taken(request, outcome.value);
      const refused = refusalOf(failures, outcome.failure);
      const { status, errors, ...refusal } = refused;
      const sentForm = {
        values,
        wrongs: errors ?? [],
        refusal: errors === undefined ? refusal : null,
      };
      const formPage = await again(slug, sentForm);
      if (formPage === null || context.draw === undefined) return problem(refused);
      return context.draw.form(formPage, formOf(request), status);
    },
  };
}

const goTo = (path: string, request: Request): Response => {
  const location = pathIn(formOf(request).language, path);
  return new Response(null, { status: 303, headers: { location } });
};

/** The answer to a form that was accepted. `status_url` is null when only the first sender has the link. */
type Acceptance = { message: string; status_url: string | null };

/** The Idempotency-Key from the header, else from the form; null for none. */
export const idempotencyKeyOf = (request: Request, values: Values): string | null =>
  (request.headers.get("idempotency-key") ?? values["idempotency_key"]) || null;

/** The secret in the link of a status page, and the code after it if the link came by mail; "" for none. */
export function secretsIn(link = ""): { token: string; code: string } {
  const [, token = "", code = ""] =
    /(?:^|#)([\w-]{43})(?:\.([\w.-]{1,200}))?$/.exec(link.trim()) ?? [];
  return { token, code };
}

/** The profile named by this parameter, or by an address typed as search words; null for none. Throws RefusalError. */
export async function chosenProfile(
  context: Pick<Context, "store" | "config">,
  request: Request,
  parameter: string,
): Promise<NonprofitDetail | null> {
  const q = wordsIn(request);
  const address = q === null || slugIn(q) === q ? null : q;
  const nameText = textIn(request, parameter, 2_048) ?? address;
  if (nameText === null) return null;
  const profile = await profileNamed(context, nameText);
  if (!profile.ok) throw new RefusalError(profile.failure);
  return profile.value;
}

export const wordsIn = (request: Request): string | null => textIn(request, "q", 400);

const foundMax = 10;

/** Finds up to ten profiles for a form, by name, number or place. Without words it does not search. */
export async function foundFor(
  context: Pick<Context, "search" | "activity">,
  q: string | null,
): Promise<FindStep> {
  if (q === null) return { step: "find", q, total: 0, found: [] };
  context.activity.count("query:search");
  const query = { ...unfiltered, q, limit: foundMax, offset: 0 };
  const { total, nonprofits } = await searched(context, query);
  return { step: "find", q, total, found: nonprofits };
}

/** The profile with this slug or address; of a merged one, the profile that replaced it. */
export async function profileNamed(
  { store, config }: Pick<Context, "store" | "config">,
  named: string,
): Promise<Result<NonprofitDetail, Refusal>> {
  const first = await recordBySlug(store, slugIn(named));
  const record = first?.merged_into ? await recordBySlug(store, first.merged_into) : first;
  if (record === null) return fail({ ...nonprofitNotFound, code: "nonprofit_not_found" });
  if (record.status !== "withdrawn") return ok(toDetail(record, config.baseUrl));
  const detail = "This nonprofit is withdrawn: its profile takes no claims and no corrections.";
  return fail({ status: 410, code: "nonprofit_withdrawn", detail });
}

/** The refusal for a profile that is withdrawn or merged into another. */
export const withdrawnAnswer = <Answer extends { detail: string }>(
  says: { nonprofit_withdrawn: Answer; nonprofit_merged: Answer },
  failure: { merged_into: string | null },
): Answer =>
  failure.merged_into === null
    ? says.nonprofit_withdrawn
    : fillDetail(says.nonprofit_merged, failure);
