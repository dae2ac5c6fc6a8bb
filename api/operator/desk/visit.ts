import { networks } from "#content/giving/network.ts";
import type { Context } from "#api/context.ts";
import type { Action } from "#api/operator/actions.ts";
import { type Refusal, Refused, storeRefusal } from "#api/http/problem.ts";
import { type Part, html } from "#content/language/html.ts";
import { type Session, formToken, isFormToken, sessionOf, signInPage } from "./session.ts";
import { bodyIn, type Form, formActions, formOf, formWords, isOwnOrigin } from "./forms.ts";
import { type Page, pageAnswer } from "./layout.ts";
import { notice } from "./elements.ts";

/** An operator's request for a page of the desk. */
export type Visit = {
  readonly context: Context;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly session: Session;
  readonly token: string;
  /** What was typed into a form that could not be taken: the page shows it again. Null on a page that is only looked at. */
  readonly form: Form | null;
};

export type Sent = Visit & { readonly form: Form };

/** Does something in the name of the operator who is here. */
export const perform = <Path extends string, Value>(
  { context, session }: Visit,
  action: Action<Path, Value>,
  asked: Omit<Parameters<Action<Path, Value>["perform"]>[1], "operator">,
) => action.perform(context, { ...asked, operator: session.operator });

/** What a page that shows its form again says first. */
export type FormNotice = { said?: Part; status?: number };

/** Why something was not done; `unusable` are the desk's words for a form that cannot be used. */
export const refused = ({ code, detail, status }: Refusal, unusable = detail): FormNotice => ({
  said: notice("bad", code === "invalid_review" ? unusable : detail),
  status,
});

/** Does the action of a form with what was typed: then `done`, or the page with the form again and why it was not done. */
export function actionForm<Name extends FormName>(
  name: Name,
  { page, done, params = (visit) => visit.params, body = () => ({}) }: FormSteps<Name>,
): Work<Sent> {
  const all: { [Each in FormName]: Action<string, FormValue<Each>> } = formActions;
  const action = all[name];
  return async (visit) => {
    const path = params(visit);
    const { unusable } = formWords[name];
    if (Object.values(path).includes("")) {
      return page(visit, { said: notice("bad", unusable), status: 400 });
    }
    const sent = { ...bodyIn(action, visit.form), ...body(visit) };
    const outcome = await perform(visit, action, { params: path, body: sent });
    if (outcome.ok) return done(visit, outcome.value);
    const { failure } = outcome;
    return page(visit, refused(failure, unusable ?? (faultsOf(failure) || failure.detail)));
  };
}

type FormName = keyof typeof formActions;
type FormValue<Name extends FormName> =
  (typeof formActions)[Name] extends Action<string, infer Value> ? Value : never;

type FormSteps<Name extends FormName> = {
  page: (visit: Visit, notice: FormNotice) => Promise<Page>;
  done: (visit: Sent, value: FormValue<Name>) => Promise<Page> | Response;
  /** What stands in the action's path, where that of the form does not say it. */
  params?: (visit: Sent) => Readonly<Record<string, string>>;
  /** What of the body no field of the same name holds. */
  body?: (visit: Sent) => object;
};

/** What is wrong with the first three fields. */
const faultsOf = ({ errors = [] }: Refusal): string =>
  errors
    .slice(0, 3)
    .map(
      ({ path, message }) =>
        `${path.replaceAll(/[[._\]]+/g, " ").trim()}: ${message.replace(/\.$/, "")}.`,
    )
    .join(" ");

export type Work<Needs> = (needs: Needs) => Promise<Page | Response>;

/** A page for an operator; anyone who is not signed in gets 401 and the form to sign in. */
export const onVisit =
  (context: Context, work: Work<Visit>) =>
  // A route without parameters brings none.
  ({ request, params = {} }: Pick<Visit, "request"> & Partial<Pick<Visit, "params">>) =>
    answered(context, null, async () => {
      const session = await sessionOf(context, request);
      if (session === null) return signInPage(context, request, { status: 401 });
      const token = formToken(context, session);
      const visit = { context, request, params, session, token, form: null };
      return answered(context, session, () => work(visit));
    });

/** A form that an operator sent: refused unless it comes from a page of this session and this origin. */
export const onForm = (context: Context, work: Work<Sent>) =>
  onVisit(context, async (visit) => {
    const { request, session } = visit;
    const form = await formOf(request);
    const own = isOwnOrigin(context, request) && isFormToken(context, session, form.text("token"));
    return own ? work({ ...visit, form }) : foreignForm;
  });

/** A page that only says something: what is not, or no longer, there, or why nothing was done. */
const sayingPage = (title: string, status: number, said: Part, heading = title): Page => ({
  title,
  place: null,
  status,
  main: html`<h1>${heading}</h1>
    ${said}
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

/** The form to sign in, which is shown and sent without a session. */
export const onSignIn =
  (context: Context, work: (context: Context, request: Request) => Promise<Page | Response>) =>
  ({ request }: { request: Request }): Promise<Response> =>
    answered(context, null, () => work(context, request));

/** Shows the page that work makes, or what went wrong. */
async function answered(
  context: Context,
  session: Session | null,
  work: () => Promise<Page | Response>,
): Promise<Response> {
  const made = await work().catch((error: unknown) => troubled(context, error));
  if (made instanceof Response) return made;
  if (session === null) return pageAnswer(made, null);
  const token = formToken(context, session);
  const network = networks[context.config.network].words.notice;
  return pageAnswer(made, { name: session.operator, token, network });
}

const unexpected =
  "An unexpected error occurred on the server. Send the request again later. The log says what.";

/** What an operator reads when something was refused, when the store cannot take it, or after a bug. */
function troubled(context: Context, error: unknown): Page {
  const refusal = error instanceof Refused ? error.refusal : storeRefusal(error);
  if (refusal === null) context.log.error({ err: error }, "unexpected error");
  const { status, detail } = refusal ?? { status: 500, detail: unexpected };
  const retry = error instanceof Refused ? undefined : refusal?.headers?.["retry-after"];
  const title = error instanceof Refused ? "Refused" : "Trouble";
  const page = sayingPage(title, status, notice("bad", detail), "That did not work");
  return retry === undefined ? page : { ...page, headers: { "retry-after": retry } };
}
