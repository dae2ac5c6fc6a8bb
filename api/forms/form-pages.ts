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
import type { Address } from "#content/contract/addresses.ts";
import { fillDetail } from "#content/contract/base/fill.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { FindStep, FormPage, FormPageOf, SentForm } from "#content/contract/form-pages.ts";
import type { RequestStore } from "#content/requests/request-store.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import { unfiltered } from "#content/contract/search.ts";
import { languages } from "#content/language/languages.ts";
import { pathIn } from "#content/language/texts.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { slugIn } from "#content/nonprofit/slug.ts";
import { toDetail } from "#content/nonprofit/wire.ts";

// Forms of the site as browsers without a script send them. Source: docs/decisions/32.

type StatusPage = FormPageOf<"/onboard/status" | "/corrections/status">;

/** A form about a profile: where it stands, and the page that tells its sender what became of it. */
type Form = {
  page: Address;
  statusPage: Address;
  /** Where the status page sends the secret of its link. */
  statusForm: Address;
  /** Where what it sends waits. */
  requests: Pick<RequestStore, "usualDays">;
  /** The step of the form that an address asks for. */
  step: (request: Request) => Promise<FormPage>;
  /** The form about a profile, null for none, with what was sent; null where there is none to show. */
  fill: (profile: NonprofitDetail | null, sent: SentForm) => FormPage | null;
  /** What became of what has the link in `values`; its status is null where no one was given such a link. */
  status: (request: Request, values: Values) => Promise<StatusPage | Response>;
  /** The page of the status where nothing is known of its link. */
  unknown: StatusPage;
};

type Values = Readonly<Record<string, string>>;

/** The pages of a form, which the site draws for one reader each: no cache keeps them; and what answers its sender. */
export function openForm(context: Context, form: Form) {
  const { page, statusPage, statusForm, requests } = form;
  const draw = async (request: Request, formPage: FormPage, status = 200) =>
    context.draw?.form(formPage, formOf(request), status) ?? noPages();
  const routes = new Elysia()
    // A browser opens by itself the address to which the form of a page is sent: it has nothing to send.
    .get(pathOf(statusForm), ({ request }) => goTo(statusPage.path, request))
    .post(pathOf(statusForm), async ({ body, request }) => {
      const statusView = await form.status(request, valuesIn(body));
      if (statusView instanceof Response) return statusView;
      return statusView.status === null
        ? draw(request, { ...statusView, said: { kind: "unknown_link", detail: null } }, 404)
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
    const drawn = context.draw?.form({ ...form.unknown, said: notice }, formOf(request));
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
     * Answers a program with JSON, and the sender of a form as a person expects, in the language of its page: with the status
     * page, whose address then keeps the link (relative, whatever name the directory was asked by), or with the form again,
     * what is wrong, and all that was typed. `slug`: of the profile that it is about; "" for none.
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

/** What a form is answered with that was taken: the link of its status page, null where the first sender has it. */
type Acceptance = { message: string; status_url: string | null };

/** The key under which a sender is answered once: of the header, else of the form; null for none. */
export const idempotencyKeyOf = (request: Request, values: Values): string | null =>
  (request.headers.get("idempotency-key") ?? values["idempotency_key"]) || null;

/** The secret in the link of a status page, and behind it the code of a link that came by mail; "" for none. */
export function secretsIn(link = ""): { token: string; code: string } {
  const [, token = "", code = ""] =
    /(?:^|#)([\w-]{43})(?:\.([\w.-]{1,200}))?$/.exec(link.trim()) ?? [];
  return { token, code };
}

/** The profile that an address names in this parameter, or in the place of words; null for none. Throws RefusalError. */
export async function chosenProfile(
  context: Pick<Context, "store" | "config">,
  request: Request,
  parameter: string,
): Promise<NonprofitDetail | null> {
  const q = wordsIn(request);
  const address = q === null || slugIn(q) === q ? null : q;
  const named = textIn(request, parameter, 2_048) ?? address;
  if (named === null) return null;
  const profile = await profileNamed(context, named);
  if (!profile.ok) throw new RefusalError(profile.failure);
  return profile.value;
}

export const wordsIn = (request: Request): string | null => textIn(request, "q", 400);

const foundMax = 10;

/** What a form's own search finds: ten profiles by name, number or place. Without words it has not searched. */
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

/** The profile that a form is about, by its slug or its address; of one that was merged, the one in its place. */
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

/** What is answered for a profile that is withdrawn, or was merged into another. */
export const withdrawnAnswer = <Answer extends { detail: string }>(
  says: { nonprofit_withdrawn: Answer; nonprofit_merged: Answer },
  failure: { merged_into: string | null },
): Answer =>
  failure.merged_into === null
    ? says.nonprofit_withdrawn
    : fillDetail(says.nonprofit_merged, failure);
