import { sha256Bytes } from "#content/runtime/digest.ts";
import { timingSafeEqual } from "node:crypto";
import { bearerOf, keyedHash, networkOf } from "#api/http/client.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Context } from "#api/context.ts";
import { RefusalError, retryAfter } from "#api/http/problem.ts";

/** Who a client is by the token it gave; a client that is locked out is not looked at. */
export type TokenAnswer =
  | { kind: "operator"; name: string }
  | { kind: "unknown_token" }
  | { kind: "locked_out"; resetMs: number };

/** What operators' work needs of the service; a command without one hands in its own, without a chain. */
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

/** What tells an operator from others. */
type OperatorCheck = Pick<
  Context,
  "secrets" | "limits" | "activity" | "config" | "log" | "store" | "clock"
>;

/** A token as it came, and where; `name` was typed beside it, and only the log of failures reads it. */
export type Credentials = { token: string | null; name?: string; place: "desk" | "api" };

/**
 * Finds the operator of a token in constant time, and counts, logs and audits failures. Whoever was let in from this
 * network before is let in again, however many failures there were: no one locks an operator out. Source: the promises
 * of the spec, 10.
 */
export async function checkToken(
  context: OperatorCheck,
  request: Request,
  { token, name = "", place }: Credentials,
): Promise<TokenAnswer> {
  // Who gives no token guesses none.
  if (token === null) return { kind: "unknown_token" };
  const { secrets, limits, activity } = context;
  const operator = nameOf(secrets.adminTokens, token);
  // Asked for every token, so that time does not tell a right one while the client is locked out.
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
  // Others may have failed since: of those that come together, at any service, no more are answered than may fail.
  const failed = await limits.adminFailures(request, name, 1);
  if (!failed.allowed) return lockedOut(failed);
  await noteFailure(context, request, { name, place });
  return { kind: "unknown_token" };
}

/** Who tried is a hash that changes daily; the name stands in the audit log only when it is an operator's. */
async function noteFailure(
  { secrets, limits, activity, config, log, store, clock }: OperatorCheck,
  request: Request,
  { name, place }: Required<Pick<Credentials, "name" | "place">>,
): Promise<void> {
  const at = clock().getTime();
  const client = keyedHash(secrets.dailyHashKey, `${isoDay(at)} ${networkOf(request, config)}`);
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
 * The operator who sent this request, by `Authorization: Bearer <token>`. Throws RefusalError: 401, or 429 for a
 * client that is locked out, whatever it sends.
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

/** Looks at every token, also after a match, so that time tells nothing about which one nearly fits. */
function nameOf(tokens: Context["secrets"]["adminTokens"], secret: string): string | null {
  let match: string | null = null;
  for (const { name, token } of tokens) if (isSameSecret(token, secret)) match = name;
  return match;
}

/** In constant time, whatever the length; false for none. */
export const isSameSecret = (secret: string, other: string | null): boolean =>
  other !== null && timingSafeEqual(sha256Bytes(secret), sha256Bytes(other));
