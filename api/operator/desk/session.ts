import { createHmac, randomBytes } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Context } from "#api/context.ts";
import { addressOf } from "#content/contract/base/request.ts";
import { retryAfter } from "#api/http/problem.ts";
import { checkToken, isSameSecret } from "#api/operator/operators.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import { endSession, isEnded } from "#content/operation/session-store.ts";
import { html } from "#content/language/html.ts";
import { formOf, formWords, isOwnOrigin, tokenField } from "./forms.ts";
import { type Page, redirect } from "./layout.ts";
import { notice } from "./elements.ts";

export type Session = { operator: string; id: string; until: Date };

type DeskContext = Pick<Context, "store" | "clock" | "config" | "secrets">;

/** A session lasts one working day. */
const sessionMs = 8 * 3_600_000;
const formCookieMs = 3_600_000;
const signing = { alg: "HS256", typ: "desk-session" } as const;

/** Opens a session. The cookie is a signed, expiring statement that does not contain the operator's token. */
async function openSession(context: DeskContext, operator: string, token: string): Promise<string> {
  const now = context.clock().getTime();
  const statement = await new SignJWT()
    .setProtectedHeader({ ...signing, kid: operator })
    .setJti(newId())
    .setIssuedAt(new Date(now))
    .setExpirationTime(new Date(now + sessionMs))
    .sign(keyOf(context, token));
  return cookieHeader(context, sessionCookie, { value: statement, maxAgeMs: sessionMs });
}

/**
 * The session of a request; null when there is none, when it has expired or was ended, and when the operator's token was
 * removed, because the signing key is derived from that token.
 */
export async function sessionOf(context: DeskContext, request: Request): Promise<Session | null> {
  const statement = cookieOf(context, request, sessionCookie);
  if (statement === null) return null;
  for (const { name, token } of context.secrets.adminTokens) {
    try {
      const { payload, protectedHeader } = await jwtVerify(statement, keyOf(context, token), {
        algorithms: [signing.alg],
        typ: signing.typ,
        currentDate: context.clock(),
        requiredClaims: ["jti", "exp"],
      });
      const { jti: id = "", exp = 0 } = payload;
      if (protectedHeader.kid !== name || (await isEnded(context.store, id))) return null;
      return { operator: name, id, until: new Date(exp * 1_000) };
    } catch (error) {
      // Malformed, expired, or signed with another key.
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  return null;
}

/** Ends a session in every process, and deletes its cookie. */
export async function closeSession(context: DeskContext, session: Session): Promise<string> {
  const { id, until } = session;
  await context.store.write((tx) => endSession(tx, { id, until, now: context.clock() }));
  return cookieHeader(context, sessionCookie, { value: "", maxAgeMs: 0 });
}

/** A hidden field of each form, which proves that the form came from a page of this session. */
export const formToken = (context: DeskContext, session: Pick<Session, "id">): string =>
  createHmac("sha256", context.secrets.deskKey).update(`form ${session.id}`).digest("base64url");

export const isFormToken = (
  context: DeskContext,
  session: Pick<Session, "id">,
  token: string,
): boolean => isSameSecret(formToken(context, session), token);

/** Before sign-in, the form's token is bound to a cookie of its own. */
function signInFormId(context: DeskContext, request: Request): string | null {
  const id = cookieOf(context, request, formCookie);
  return id !== null && /^[\w-]{22}$/.test(id) ? id : null;
}

const newId = (): string => randomBytes(16).toString("base64url");

/** A session's key is derived from the operator's token, so removing the token ends the session. */
const keyOf = ({ secrets }: DeskContext, token: string): Uint8Array =>
  createHmac("sha256", secrets.deskKey).update(`session ${token}`).digest();

const isSecure = ({ config }: DeskContext): boolean => config.baseUrl.startsWith("https:");
/** The prefix makes browsers accept the cookie only over TLS. */
const cookieName = (context: DeskContext, name: string): string =>
  `${isSecure(context) ? "__Secure-" : ""}${name}`;
const sessionCookie = "almoner-desk";
const formCookie = "almoner-desk-form";

const cookieHeader = (
  context: DeskContext,
  name: string,
  { value, maxAgeMs }: { value: string; maxAgeMs: number },
): string =>
  new Bun.Cookie(cookieName(context, name), value, {
    path: "/desk",
    maxAge: Math.floor(maxAgeMs / 1_000),
    httpOnly: true,
    sameSite: "strict",
    secure: isSecure(context),
  }).toString();

const cookieHeaderMax = 8_192;

function cookieOf(context: DeskContext, request: Request, name: string): string | null {
  const header = request.headers.get("cookie") ?? "";
  if (header.length > cookieHeaderMax) return null;
  return new Bun.CookieMap(header).get(cookieName(context, name));
}

/** The sign-in form. It remembers the page that was requested. */
export async function signInPage(
  context: Context,
  request: Request,
  {
    status,
    message,
    next = placeAsked(request),
    headers = {},
  }: { status?: number; message?: string; next?: string; headers?: Record<string, string> } = {},
): Promise<Page> {
  const id = signInFormId(context, request) ?? newId();
  const cookie = cookieHeader(context, formCookie, { value: id, maxAgeMs: formCookieMs });
  const main = html`<h1>Sign in</h1>
    ${message === undefined ? null : notice("bad", message)}
    <form method="post" action="/desk/sign-in">
      ${tokenField(formToken(context, { id }))}
      <input type="hidden" name="next" value="${next}" />
      <label for="operator-name">Name (any: the token says who you are)</label>
      <input
        type="text"
        id="operator-name"
        name="operator_name"
        maxlength="64"
        autocomplete="username"
        spellcheck="false"
      />
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
  const challenge: Record<string, string> =
    status === 401 ? { "www-authenticate": 'Bearer realm="almoner"' } : {};
  const all = { "set-cookie": cookie, ...challenge, ...headers };
  return { title: "Sign in", place: null, status, main, headers: all };
}

/** Handles the sign-in form. Refuses a client that is locked out, unless it sends a known operator's token. */
export async function signIn(context: Context, request: Request): Promise<Page | Response> {
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
  const name = form.text("operator_name").slice(0, nameLengthMax);
  const credentials = { token: token === "" ? null : token, name, place: "desk" } as const;
  const answer = await checkToken(context, request, credentials);
  if (answer.kind === "operator") {
    await noteSignIn(context, answer.name);
    const cookie = await openSession(context, answer.name, token);
    return redirect(next, { "set-cookie": cookie });
  }
  if (answer.kind === "unknown_token") return again(401, "No operator has this token.");
  const seconds = retryAfter(answer.resetMs);
  return again(429, `Too many failed attempts. The next one is looked at in ${seconds} seconds.`, {
    "retry-after": seconds,
  });
}

const nameLengthMax = 64;

/** A failure to store the entry (a full disk, another writer) does not keep an operator from the desk. */
async function noteSignIn({ store, clock, log }: Context, operator: string): Promise<void> {
  log.info({ operator }, "signed in to the desk");
  const entry = { operator, action: "sign_in", subject: "desk", at: clock().getTime() };
  await store
    .write((tx) => logOperator(tx, entry))
    .catch((error: unknown) => log.warn({ err: error }, "a sign-in is not in the audit log"));
}

/** The last words of addresses below a page, to which some of its forms are sent: "/desk/undo/agent". */
const wordsBelowPages = new Set(
  Object.values(formWords).flatMap(({ path }) => /^\/desk\/.+\/([a-z]+)$/.exec(path)?.[1] ?? []),
);

/** The page that was requested, or whose form was sent, to return to after sign-in. */
function placeAsked(request: Request): string {
  const { path: sentTo, query } = addressOf(request);
  const [, parent = "", word = ""] = /^(.*)\/([^/]*)$/.exec(sentTo) ?? [];
  const path = request.method === "POST" && wordsBelowPages.has(word) ? parent : sentTo;
  const place = query === "" ? path : `${path}?${query}`;
  return isPlace(place) && !path.startsWith("/desk/sign-") ? place : "/desk";
}

const placeLengthMax = 1_000;

/** Whether a text is the address of a desk page, and no browser would read it as another path or host. */
const isPlace = (text: string): boolean => {
  if (text.length > placeLengthMax || !/^\/desk(?:[/?][\w./:?=&%+~-]*)?$/.test(text)) return false;
  const { pathname, search } = new URL(text, "http://desk");
  return pathname + search === text;
};
