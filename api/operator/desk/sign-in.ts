import { checkToken, retryAfter } from "#api/operator/operators.ts";
import type { Context } from "#api/context.ts";
import { pathOf } from "#api/http/paths.ts";
import { pageAnswer, redirect } from "./answer.ts";
import { formOf, isOwnOrigin } from "./form.ts";
import { frame, notice, tokenField } from "./frame.ts";
import { html } from "./html.ts";
import { formToken, isFormToken, openSession, signInForm, signInFormId } from "./session.ts";

type Shown = { status: number; message?: string; next?: string; headers?: Record<string, string> };

/** The form to sign in, with the page that was asked for in mind. */
export async function signInPage(
  context: Context,
  request: Request,
  shown: Shown,
): Promise<Response> {
  const { status, message, next = placeAsked(request), headers = {} } = shown;
  const form = signInForm(context, request);
  const main = html`<h1>Sign in</h1>
    ${message === undefined ? null : notice("bad", message)}
    <form method="post" action="/desk/sign-in">
      ${tokenField(formToken(context, form))}
      <input type="hidden" name="next" value="${next}" />
      <label for="operator-token">Your operator’s token</label>
      <input
        type="password"
        id="operator-token"
        name="operator_token"
        required
        autocomplete="current-password"
        spellcheck="false"
        autofocus
      />
      <button>Sign in</button>
    </form>
    <p class="quiet">
      Tokens are set in ALMONER_ADMIN_TOKENS; without it one was made at the first start and shown
      once. A session lasts eight hours.
    </p>`;
  const page = frame({ title: "Sign in", operator: null, place: null, main });
  const challenge: Record<string, string> =
    status === 401 ? { "www-authenticate": 'Bearer realm="almoner"' } : {};
  return pageAnswer(page, {
    status,
    headers: { "set-cookie": form.cookie, ...challenge, ...headers },
  });
}

/** Takes the form to sign in. A client with five failures in a minute is not looked at. Source: promises.md, 10. */
export async function signIn(context: Context, request: Request): Promise<Response> {
  const form = await formOf(request);
  const next = isPlace(form.text("next")) ? form.text("next") : "/desk";
  const again = (status: number, message: string, headers: Record<string, string> = {}) =>
    signInPage(context, request, { status, message, next, headers });
  const id = signInFormId(context, request);
  if (
    !isOwnOrigin(context, request) ||
    id === null ||
    !isFormToken(context, { id }, form.text("token"))
  ) {
    return again(
      403,
      "This form was not sent by this page, or your browser refuses cookies. Send it once more.",
    );
  }
  const token = form.text("operator_token");
  const answer = checkToken(context, request, token === "" ? null : token);
  if (answer.kind === "operator") {
    const cookie = await openSession(context, { operator: answer.name, token });
    return redirect(next, { "set-cookie": cookie });
  }
  if (answer.kind === "unknown_token") return again(401, "No operator has this token.");
  const seconds = retryAfter(answer.resetMs);
  return again(429, `Too many failed attempts. The next one is looked at in ${seconds} seconds.`, {
    "retry-after": seconds,
  });
}

/** The page that was asked for, to go there afterwards; a form that was sent is not sent again. */
function placeAsked(request: Request): string {
  if (request.method !== "GET") return "/desk";
  const path = pathOf(request.url);
  const query = new URL(request.url).search;
  const place = `${path}${query}`;
  return isPlace(place) && path !== "/desk/sign-in" ? place : "/desk";
}

const placeLengthMax = 1_000;

/** A page of the desk, and nothing that a browser takes for another host. */
const isPlace = (text: string): boolean =>
  text.length <= placeLengthMax && /^\/desk(?:[/?][\w./:?=&%+~-]*)?$/.test(text);
