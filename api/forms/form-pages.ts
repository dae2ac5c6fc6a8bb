import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { type Drawing, isSentByForm, valuesIn } from "#api/http/form.ts";
import { formOf } from "#api/http/headers.ts";
import {
  type FailureTable,
  noPages,
  problem,
  type Refusal,
  Refused,
  refusalOf,
  refuse,
} from "#api/http/problem.ts";
import { textIn } from "#api/http/query.ts";
import { pathOf } from "#api/http/route.ts";
import { searched } from "#api/search/routes.ts";
import type { Address } from "#content/contract/addresses.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type {
  FindStep,
  FormPage,
  FormPageOf,
  Statement,
  SentForm,
} from "#content/contract/form-pages.ts";
import { type RequestKind, usualDays } from "#content/correction/request-store.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { nonprofitNotFound } from "#content/contract/problem.ts";
import { unfiltered } from "#content/contract/search.ts";
import { languages } from "#content/language/languages.ts";
import { pathIn } from "#content/language/texts.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { slugIn } from "#content/nonprofit/slug.ts";
import { toDetail } from "#content/nonprofit/wire.ts";

// Forms of the site as browsers without a script send them. Source: docs/decisions/0064.

type StatusPage = FormPageOf<"/onboard/status" | "/corrections/status">;

/** A form about a profile: where it stands, and the page that tells its sender what became of it. */
type Form = {
  page: Address;
  statusPage: Address;
  /** Where the status page sends the secret of its link. */
  statusForm: Address;
  kind: RequestKind;
  /** The step of the form that an address asks for. */
  step: (request: Request) => Promise<FormPage>;
  /** What became of what has the link in `values`; its status is null where no one was given such a link. */
  status: (request: Request, values: Values) => Promise<StatusPage | Response>;
};

type Values = Readonly<Record<string, string>>;

/** The pages of a form, which the site draws for one reader each: no cache keeps them. */
export function formPages(context: Context, form: Form) {
  const { page, statusPage, statusForm, kind } = form;
  const draw = async (request: Request, shown: FormPage, status = 200) =>
    context.draw?.form(shown, formOf(request), status) ?? noPages();
  const routes = new Elysia()
    // A browser opens by itself the address to which the form of a page is sent: it has nothing to send.
    .get(pathOf(statusForm), ({ request }) => goTo(statusPage.path, request))
    .post(pathOf(statusForm), async ({ body, request }) => {
      const shown = await form.status(request, valuesIn(body));
      if (shown instanceof Response) return shown;
      return shown.status === null
        ? draw(request, { ...shown, said: { kind: "unknown_link", detail: null } }, 404)
        : draw(request, { ...shown, usualDays: await usualDays(context.store, kind) });
    });
  for (const language of languages.keys()) {
    routes.get(pathIn(language, page.path), async ({ request }) =>
      draw(request, await form.step(request)),
    );
  }
  return routes;
}

const goTo = (path: string, request: Request): Response => {
  const location = pathIn(formOf(request).language, path);
  return new Response(null, { status: 303, headers: { location } });
};

/** What a form is answered with that was taken: the link of its status page, null where the first sender has it. */
type Accepted = { message: string; status_url: string | null };

type FormAnswers = Drawing & {
  /** The page of the status, for a sender who gets no link. */
  status: (said: Statement) => FormPage;
  /** The form again, with what was sent; null where there is none to show. */
  again: (sent: SentForm) => Promise<FormPage | null>;
};

/**
 * Answers a program with JSON, and the sender of a form as a person expects, in the language of its page: with the status
 * page, whose address then keeps the link (relative, whatever name the directory was asked by), or with the form again,
 * what is wrong, and all that was typed.
 */
export async function answerSender<Failure extends { kind: string }>(
  outcome: Result<Accepted, Failure>,
  failures: FailureTable<Failure>,
  { request, values }: { request: Request; values: Values },
  { draw, status, again }: FormAnswers,
): Promise<Response | Accepted> {
  if (!isSentByForm(request)) return outcome.ok ? outcome.value : refuse(failures, outcome.failure);
  const form = formOf(request);
  if (outcome.ok) {
    const { status_url } = outcome.value;
    if (status_url === null) {
      const page = status({ kind: "waits_already", detail: null });
      return draw?.form(page, form) ?? Response.json(outcome.value);
    }
    return goTo(status_url.slice(new URL(status_url).origin.length), request);
  }
  const refused = refusalOf(failures, outcome.failure);
  if (draw === undefined) return problem(refused);
  const { status: code, errors, ...refusal } = refused;
  const sent = { values, wrongs: errors ?? [], refusal: errors === undefined ? refusal : null };
  const page = await again(sent);
  return page === null ? problem(refused) : draw.form(page, form, code);
}

/** The key under which a sender is answered once: of the header, else of the form; null for none. */
export const idempotencyKeyOf = (request: Request, values: Values): string | null =>
  (request.headers.get("idempotency-key") ?? values["idempotency_key"]) || null;

/** The secret in the link of a status page, and behind it the code of a link that came by mail; "" for none. */
export function secretsIn(link = ""): { token: string; code: string } {
  const [, token = "", code = ""] =
    /(?:^|#)([\w-]{43})(?:\.([\w.-]{1,200}))?$/.exec(link.trim()) ?? [];
  return { token, code };
}

/** The profile that an address names in this parameter, or in the place of words; null for none. Throws Refused. */
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
  if (!profile.ok) throw new Refused(profile.failure);
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
