import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { endSession, isEnded } from "#content/operation/ended-sessions.ts";
import type { Context } from "#api/context.ts";

/** An operator who signed in to the desk. */
export type Session = { operator: string; id: string; until: Date };

type Needed = Pick<Context, "store" | "clock" | "config" | "secrets">;

/** As long as a working day. */
const sessionMs = 8 * 3_600_000;
const formCookieMs = 3_600_000;
const signing = { alg: "HS256", typ: "desk-session" } as const;

/** Signs an operator in: the cookie holds a signed, expiring statement, and nothing of the token it is signed with. */
export async function openSession(
  context: Needed,
  { operator, token }: { operator: string; token: string },
): Promise<string> {
  const now = context.clock().getTime();
  const statement = await new SignJWT()
    .setProtectedHeader({ ...signing, kid: operator })
    .setJti(newId())
    .setIssuedAt(new Date(now))
    .setExpirationTime(new Date(now + sessionMs))
    .sign(keyOf(context, token));
  return cookie(context, {
    name: sessionCookie(context),
    value: statement,
    path: "/desk",
    maxAgeMs: sessionMs,
  });
}

/**
 * The session of a request; null when there is none, when it is over or was ended, and when the operator's token is no
 * longer one: the key it was signed with is made of that token.
 */
export async function sessionOf(context: Needed, request: Request): Promise<Session | null> {
  const statement = cookieOf(request, sessionCookie(context));
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
      if (!isRefusedStatement(error)) throw error;
    }
  }
  return null;
}

/** Signs an operator out, for every process, and takes the cookie back. */
export async function closeSession(context: Needed, session: Session): Promise<string> {
  const { id, until } = session;
  await context.store.write((tx) => endSession(tx, { id, until, now: context.clock() }));
  return cookie(context, { name: sessionCookie(context), value: "", path: "/desk", maxAgeMs: 0 });
}

/** What proves that a form came from a page of this session: hidden in each form. */
export const formToken = (context: Needed, session: Pick<Session, "id">): string =>
  createHmac("sha256", context.secrets.deskKey).update(`form ${session.id}`).digest("base64url");

/** Whether a form holds the token that its session's pages hold. Compared in constant time. */
export const isFormToken = (
  context: Needed,
  session: Pick<Session, "id">,
  given: string,
): boolean => timingSafeEqual(digestOf(given), digestOf(formToken(context, session)));

/** Before anyone signed in, the form's token is bound to a cookie of its own. */
export function signInForm(context: Needed, request: Request): { id: string; cookie: string } {
  const known = signInFormId(context, request);
  const id = known ?? newId();
  return {
    id,
    cookie: cookie(context, {
      name: formCookie(context),
      value: id,
      path: "/desk",
      maxAgeMs: formCookieMs,
    }),
  };
}

export function signInFormId(context: Needed, request: Request): string | null {
  const id = cookieOf(request, formCookie(context));
  return id !== null && /^[\w-]{22}$/.test(id) ? id : null;
}

const newId = (): string => randomBytes(16).toString("base64url");

/** A session is signed with a key made of the operator's token: whoever takes the token away ends it. */
const keyOf = ({ secrets }: Needed, token: string): Uint8Array =>
  createHmac("sha256", secrets.deskKey).update(`session ${token}`).digest();

const digestOf = (text: string): Buffer => createHmac("sha256", "length").update(text).digest();

/** What jose says of a statement that is malformed, over, or signed with another key. */
const isRefusedStatement = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_J");

const isSecure = ({ config }: Needed): boolean => config.baseUrl.startsWith("https:");
/** The prefix tells browsers to take it over TLS only. */
const prefix = (context: Needed): string => (isSecure(context) ? "__Secure-" : "");
const sessionCookie = (context: Needed): string => `${prefix(context)}almoner-desk`;
const formCookie = (context: Needed): string => `${prefix(context)}almoner-desk-form`;

function cookie(
  context: Needed,
  given: { name: string; value: string; path: string; maxAgeMs: number },
): string {
  const { name, value, path, maxAgeMs } = given;
  return new Bun.Cookie(name, value, {
    path,
    maxAge: Math.floor(maxAgeMs / 1_000),
    httpOnly: true,
    sameSite: "strict",
    secure: isSecure(context),
  }).toString();
}

const cookieHeaderMax = 8_192;

function cookieOf(request: Request, name: string): string | null {
  const header = request.headers.get("cookie") ?? "";
  return header.length > cookieHeaderMax ? null : new Bun.CookieMap(header).get(name);
}
