import { wordsOfNetwork } from "#content/donation/answers.ts";
import type { Context } from "#api/context.ts";
import { type Refusal, Refused } from "#api/http/problem.ts";
import { pageAnswer, troubleOf } from "./answer.ts";
import {
  type Form,
  type Part,
  type Place,
  formOf,
  frame,
  html,
  isOwnOrigin,
  notice,
} from "./layout.ts";
import { type Session, formToken, isFormToken, sessionOf, signIn, signInPage } from "./session.ts";

/** An operator's request for a page of the desk. */
export type Visit = {
  readonly context: Context;
  readonly request: Request;
  readonly session: Session;
  /** Goes into every form of the page. */
  readonly token: string;
};

/** What a page is made of; `status` is 200 unless given. */
export type Page = { title: string; place: Place | null; main: Part; status?: number | undefined };

/** A form that an operator sent. */
export type Sent = Visit & { form: Form };

/** What a page that shows its form again says first. */
export type Shown = { said?: Part; status?: number };

/** Why something was not done; `unusable` are the desk's words for a form that cannot be used. */
export const refused = ({ code, detail, status }: Refusal, unusable = detail): Shown => ({
  said: notice("bad", code === "invalid_review" ? unusable : detail),
  status,
});

type Params = Readonly<Record<string, string>>;
type Called = { request: Request; params: Params };
type Work<Needs> = (needs: Needs, params: Params) => Promise<Page | Response>;

/** A page for an operator; anyone who is not signed in gets 401 and the form to sign in. */
export const onVisit = (context: Context, work: Work<Visit>) =>
  guarded(context, (visit, { params }) => work(visit, params));

/** A form that an operator sent: refused unless it comes from a page of this session and this origin. */
export const onForm = (context: Context, work: Work<Sent>) =>
  guarded(context, async (visit, { request, params }) => {
    const form = await formOf(request);
    const own =
      isOwnOrigin(context, request) && isFormToken(context, visit.session, form.text("token"));
    return own ? work({ ...visit, form }, params) : foreignForm;
  });

export const foreignForm: Page = {
  title: "Refused",
  place: null,
  status: 403,
  main: html`<h1>Refused</h1>
    ${notice("bad", "This form did not come from a page of the desk that you opened since you signed in. Nothing was done: open the page again and send it from there.")}
    <p><a href="/desk">To the desk</a></p>`,
};

/** What is not, or no longer, there. */
export const notHere = (message: string): Page => ({
  title: "Not found",
  place: null,
  status: 404,
  main: html`<h1>Not found</h1>
    <p>${message}</p>
    <p><a href="/desk">To the desk</a></p>`,
});

/** The form to sign in, which is sent without a session. */
export const onSignIn =
  (context: Context) =>
  async ({ request }: { request: Request }): Promise<Response> => {
    try {
      return await signIn(context, request);
    } catch (error) {
      const { retry, ...page } = troublePage(context, error);
      return shown(context, null, page, retry === null ? {} : { "retry-after": retry });
    }
  };

function guarded(
  context: Context,
  work: (visit: Visit, called: Called) => Promise<Page | Response>,
) {
  return async (called: Called): Promise<Response> => {
    const { request } = called;
    let session: Session | null = null;
    try {
      session = await sessionOf(context, request);
      if (session === null) return await signInPage(context, request, { status: 401 });
      const visit = { context, request, session, token: formToken(context, session) };
      const made = await work(visit, called);
      return made instanceof Response ? made : shown(context, session, made);
    } catch (error) {
      const { retry, ...page } = troublePage(context, error);
      return shown(context, session, page, retry === null ? {} : { "retry-after": retry });
    }
  };
}

function shown(
  context: Context,
  session: Session | null,
  { title, place, main, status = 200 }: Page,
  headers: Record<string, string> = {},
): Response {
  const operator =
    session === null ? null : { name: session.operator, token: formToken(context, session) };
  const network = session === null ? null : wordsOfNetwork(context.config.network).notice;
  return pageAnswer(frame({ title, operator, place, network, main }), { status, headers });
}

function troublePage({ log }: Context, error: unknown): Page & { retry: string | null } {
  if (error instanceof Refused) {
    const { status, detail } = error.refusal;
    return { title: "Refused", place: null, status, retry: null, main: trouble(detail) };
  }
  const known = troubleOf(error);
  if (known === null) log.error({ err: error }, "unexpected error");
  return {
    title: "Trouble",
    place: null,
    status: known?.status ?? 500,
    retry: known?.retry ?? null,
    main: trouble(
      known?.message ??
        "An unexpected error occurred on the server. Send the request again later. The log says what.",
    ),
  };
}

const trouble = (message: string): Part =>
  html`<h1>That did not work</h1>
    ${notice("bad", message)}
    <p><a href="/desk">To the desk</a></p>`;
