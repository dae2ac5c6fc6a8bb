import { sha256Bytes } from "#content/runtime/digest.ts";
import { timingSafeEqual } from "node:crypto";
import { bearerOf, keyedHash, networkOf } from "#api/http/client.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Context } from "#api/context.ts";
import { RefusalError, retryAfter } from "#api/http/problem.ts";

/** The result of checking a client's token. The token of a client that is locked out is not revealed as right or wrong. */
export type TokenAnswer =
  | { kind: "operator"; name: string }
  | { kind: "unknown_token" }
  | { kind: "locked_out"; resetMs: number };

/** What the actions of operators need from the service. A command passes its own, without a chain. */
export type OperatorContext = Pick<
  Context,
  "store" | "clock" | "config" | "secrets" | "publication" | "waitForPublication" | "stopping"
> & {
  readonly curated: Pick<Context["curated"], "lookAgain">;
  readonly limits?: Pick<Context["limits"], "alone">;
  readonly chain: Pick<
    Context["chain"],
    | "cluster"
    | "caip2"
    | "nodes"
    | "disagreements"
    | "durations"
    | "sponsor"
    | "balanceOf"
    | "health"
  > | null;
};

type OperatorCheck = Pick<
  Context,
  "secrets" | "limits" | "activity" | "config" | "log" | "store" | "clock"
>;

/** A token, and where it was sent. `name` was typed beside it; only the log of failures uses it. */
export type Credentials = { token: string | null; name?: string; place: "desk" | "api" };

/**
 * Finds the operator of a token in constant time; counts, logs and audits failures. An operator who has signed in from
 * this network before is let in however many failures there were, so that no one can lock an operator out (docs/desk.md).
 */
export async function checkToken(
  context: OperatorCheck,
  request: Request,
  { token, name = "", place }: Credentials,
): Promise<TokenAnswer> {
  // A request without a token is not a guess.
  if (token === null) return { kind: "unknown_token" };
  const { secrets, limits, activity } = context;
  const operator = nameOf(secrets.adminTokens, token);
  // Asked for every token, so that timing does not reveal a right one while the client is locked out.
  const [isKnown, looked] = await Promise.all([
    limits.knowsOperator(request, operator ?? "", 0),
    limits.adminFailures(request, name, 0),
  ]);
  const lockedOut = ({ resetMs }: { resetMs: number }): TokenAnswer => {
    activity.count("limited:admin");
    return { kind: "locked_out", resetMs };
  };
  if (looked.remaining === 0 && (operator === null || !isKnown)) return lockedOut(looked);
  if (operator !== null) {
    void limits.knowsOperator(request, operator, 1);
    return { kind: "operator", name: operator };
  }
  // Concurrent attempts, at any service, may have failed since; no more of them get an answer than may fail.
  const allowance = await limits.adminFailures(request, name, 1);
  if (!allowance.allowed) return lockedOut(allowance);
  await noteFailure(context, request, { name, place });
  return { kind: "unknown_token" };
}

/** The client is logged as a hash that changes daily. The audit log names only real operators. */
async function noteFailure(
  { secrets, limits, activity, config, log, store, clock }: OperatorCheck,
  request: Request,
  { name, place }: Required<Pick<Credentials, "name" | "place">>,
): Promise<void> {
  const at = clock().getTime();
  const client = keyedHash(secrets.clientHashKey, `${isoDay(at)} ${networkOf(request, config)}`);
  const operator = secrets.adminTokens.find((token) => token.name === name)?.name ?? "unknown";
  activity.count("access:failed_sign_ins");
  log.warn({ client, operator, place }, "sign-in failed");
  const count = await limits.auditsFailures();
  if (count === 0) return;
  const detail = { client, count };
  const entry = { operator, action: "sign_in.failed", subject: place, detail, at };
  store
    .write((tx) => logOperator(tx, entry))
    .catch((error: unknown) =>
      log.warn({ err: error }, "a failed sign-in is not in the audit log"),
    );
}

/**
 * The operator of a request, by `Authorization: Bearer <token>`. Throws RefusalError: 401, or 429 for a client that is locked
 * out, unless it is a known operator's.
 */
export async function operatorOf(context: OperatorCheck, request: Request): Promise<string> {
  const answer = await checkToken(context, request, { token: bearerOf(request), place: "api" });
  if (answer.kind === "operator") return answer.name;
  if (answer.kind === "locked_out") {
    throw new RefusalError({
      status: 429,
      code: "locked_out",
      detail: "Too many failed attempts. Try again after Retry-After.",
      headers: { "retry-after": retryAfter(answer.resetMs) },
    });
  }
  throw new RefusalError({
    status: 401,
    code: "not_an_operator",
    detail: "Send the header Authorization: Bearer <token> with an operator's token.",
    headers: { "www-authenticate": 'Bearer realm="almoner"' },
  });
}

/** Compares every token, even after a match, so that timing reveals nothing about them. */
function nameOf(tokens: Context["secrets"]["adminTokens"], secret: string): string | null {
  let match: string | null = null;
  for (const { name, token } of tokens) if (isSameSecret(token, secret)) match = name;
  return match;
}

/** Compares in constant time, for any length; false for null. */
export const isSameSecret = (secret: string, other: string | null): boolean =>
  other !== null && timingSafeEqual(sha256Bytes(secret), sha256Bytes(other));
