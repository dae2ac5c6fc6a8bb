import { networks } from "#content/giving/network.ts";
import type { Context } from "#api/context.ts";
import { type Action, actions } from "#api/operator/actions.ts";
import { type Refusal, RefusalError, storeRefusal } from "#api/http/problem.ts";
import { type Part, html } from "#content/language/html.ts";
import { type Session, formToken, isFormToken, sessionOf, signInPage } from "./session.ts";
import {
  type Form,
  type FormName,
  formOf,
  formSent,
  formWords,
  inputIn,
  isOwnOrigin,
  type StoredText,
} from "./forms.ts";
import { type Page, pageAnswer } from "./layout.ts";
import { notice } from "./elements.ts";

export type Visit = {
  readonly context: Context;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly session: Session;
  readonly token: string;
  /** The form whose action was refused, shown again with what was typed; null for a plain view. */
  readonly form: Form | null;
};

export type FormVisit = Visit & { readonly form: Form };

/** The message above a form that is shown again; `failure` is why its action was not carried out. */
export type FormNotice = { message?: Part; status?: number | undefined; failure?: Refusal };

type FormSteps<Name extends FormName> = {
  /** Shows the form again after its action was refused. */
  page: (visit: Visit, notice: FormNotice) => Promise<Page>;
  done: (visit: FormVisit, value: FormValue<Name>) => Promise<Page | Response> | Response;
  /** Members of the body that have no field of the same name. */
  body?: (visit: FormVisit) => object | Promise<object>;
  /** Typed fields whose stored text has changed since the form showed it: the form is shown again first. */
  conflicts?: (visit: FormVisit) => Promise<StoredText[]>;
  /** Replaces the standard message for a form that cannot be used. */
  unusable?: (failure: Refusal, visit: FormVisit) => string | undefined;
};
type FormValue<Name extends FormName> =
  (typeof actions)[Name] extends Action<infer _, infer Value> ? Value : never;
export type Forms = { readonly [Name in FormName]: FormSteps<Name> };

export const formWorks = (forms: Forms): [string, Work<FormVisit>][] =>
  [...Map.groupBy(Object.keys(formWords) as FormName[], (name) => formWords[name].path)].map(
    ([path, names]) => [
      path,
      async (visit) => {
        const name = formSent(names, visit.form);
        if (name === null) return notHere("There is no such change.");
        return formWork(name, forms[name], { ...visit, form: { ...visit.form, name } });
      },
    ],
  );

/** Performs the action of a form. Then calls `done`, or shows the form again with the reason for the refusal. */
async function formWork(
  name: FormName,
  { page, done, ...steps }: FormSteps<never>,
  visit: FormVisit,
): Promise<Page | Response> {
  const { context, session } = visit;
  const { params, body } = inputIn(name, visit);
  const refused = (failure: Refusal) => {
    const unusable = steps.unusable?.(failure, visit) ?? formWords[name].unusable;
    const faults = unusable ?? (faultsOf(failure) || failure.detail);
    const why = failure.code === "invalid_review" ? faults : failure.detail;
    return page(visit, { message: notice("bad", why), status: failure.status, failure });
  };
  if (Object.values(params).includes("")) {
    return refused({ status: 400, code: "invalid_review", detail: "" });
  }
  const conflicts = (await steps.conflicts?.(visit)) ?? [];
  if (conflicts.length > 0) return refused(changedMeanwhile(conflicts));
  const bodySent = { ...body, ...(await steps.body?.(visit)) };
  const action: Action = actions[name];
  const outcome = await action.perform(context, {
    operator: session.operator,
    params,
    body: bodySent,
  });
  return outcome.ok ? done(visit, outcome.value) : refused(outcome.failure);
}

function changedMeanwhile(conflicts: readonly StoredText[]): Refusal {
  const now = conflicts.map(({ name, text }) => {
    const field = name.replace("value.", "").replaceAll("_", " ");
    return `${field} is now ${text === "" ? "empty" : `“${Array.from(text).slice(0, 300).join("")}”`}`;
  });
  const detail = `Changed meanwhile, so nothing was saved: ${now.join("; ")}. Your text is still below: look again, and send it only if it should replace that.`;
  return { status: 409, code: "changed_meanwhile", detail };
}

const faultsOf = ({ errors = [] }: Refusal): string =>
  errors
    .slice(0, 3)
    .map(
      ({ path, message }) =>
        `${path.replaceAll(/[[._\]]+/g, " ").trim()}: ${message.replace(/\.$/, "")}.`,
    )
    .join(" ");

export type Work<Needs> = (needs: Needs) => Promise<Page | Response>;

const sessionEnded =
  "Your session has ended, so nothing was done. Sign in and send the form again.";

/** A page for a signed-in operator; others get 401 and the sign-in form. */
export const onVisit =
  (context: Context, work: Work<Visit>) =>
  // A route without parameters passes none.
  ({ request, params = {} }: Pick<Visit, "request"> & Partial<Pick<Visit, "params">>) =>
    answered(context, null, async () => {
      const session = await sessionOf(context, request);
      if (session === null) {
        const message = request.method === "POST" ? sessionEnded : undefined;
        return signInPage(context, request, { status: 401, ...(message && { message }) });
      }
      const token = formToken(context, session);
      const visit = { context, request, params, session, token, form: null };
      return answered(context, session, () => work(visit));
    });

/** Handles a form that an operator sent; refuses one that does not come from this session and this origin. */
export const onForm = (context: Context, work: Work<FormVisit>) =>
  onVisit(context, async (visit) => {
    const { request, session } = visit;
    const form = await formOf(request);
    const isOwn =
      isOwnOrigin(context, request) && isFormToken(context, session, form.text("token"));
    return isOwn ? work({ ...visit, form }) : foreignForm;
  });

/** A page with only a message: nothing is here, or nothing was done. */
const sayingPage = (title: string, status: number, message: Part, heading = title): Page => ({
  title,
  place: null,
  status,
  main: html`<h1>${heading}</h1>
    ${message}
    <p><a href="/desk">To the desk</a></p>`,
});

const foreignForm = sayingPage(
  "Refused",
  403,
  notice(
    "bad",
    "This form did not come from a page of the desk that you opened since you signed in. Nothing was done: open the page again and send it from there.",
  ),
);

export const notHere = (message: string): Page =>
  sayingPage("Not found", 404, html`<p>${message}</p>`);

/** Handlers of the sign-in form, which need no session. */
export const onSignIn =
  (context: Context, work: (context: Context, request: Request) => Promise<Page | Response>) =>
  ({ request }: { request: Request }): Promise<Response> =>
    answered(context, null, () => work(context, request));

/** Answers with the page that `work` makes, or with an error page. */
async function answered(
  context: Context,
  session: Session | null,
  work: () => Promise<Page | Response>,
): Promise<Response> {
  const answer = await work().catch((error: unknown) => troubled(context, error));
  if (answer instanceof Response) return answer;
  if (session === null) return pageAnswer(answer, null);
  const token = formToken(context, session);
  const network = networks[context.config.network].words.notice;
  return pageAnswer(answer, { name: session.operator, token, network });
}

const unexpected =
  "An unexpected error occurred on the server. Send the request again later. The log says what.";

/** The page for a refusal, for a failure of the store, and for a bug. */
function troubled(context: Context, error: unknown): Page {
  const refusal = error instanceof RefusalError ? error.refusal : storeRefusal(error);
  if (refusal === null) context.log.error({ err: error }, "unexpected error");
  const { status, detail } = refusal ?? { status: 500, detail: unexpected };
  const retry = error instanceof RefusalError ? undefined : refusal?.headers?.["retry-after"];
  const title = error instanceof RefusalError ? "Refused" : "Trouble";
  const page = sayingPage(title, status, notice("bad", detail), "That did not work");
  return retry === undefined ? page : { ...page, headers: { "retry-after": retry } };
}
