import { createHash, timingSafeEqual } from "node:crypto";
import { bearerOf } from "#api/http/client.ts";
import type { Context } from "#api/context.ts";
import { Refused } from "#api/http/problem.ts";
import type { Result } from "#content/contract/result.ts";

/** Who a client is by the token it gave; a client with five failures in the last minute is not looked at. */
export type TokenAnswer =
  | { kind: "operator"; name: string }
  | { kind: "unknown_token" }
  | { kind: "locked_out"; resetMs: number };

/** What operators' work needs of the service; a command without one hands in its own, without a chain. */
export type OperatorContext = Pick<
  Context,
  "store" | "clock" | "config" | "secrets" | "publication" | "waitForPublication"
> & {
  readonly curated: Pick<Context["curated"], "lookAgain">;
  readonly chain: {
    readonly cluster: string;
    readonly nodes: number;
    disagreements(): number;
    stillValid(blockhash: string): Promise<Result<boolean, { why: string }>>;
  } | null;
};

/** What tells an operator from others. */
type OperatorCheck = Pick<Context, "secrets" | "limits" | "activity">;

/** Finds the operator of a token in constant time, and counts failures. Source: the promises of the spec, 10. */
export function checkToken(
  { secrets, limits, activity }: OperatorCheck,
  request: Request,
  token: string | null,
): TokenAnswer {
  const looked = limits.adminFailures(request, 0);
  if (looked.remaining === 0) {
    activity.count("limited:admin");
    return { kind: "locked_out", resetMs: looked.resetMs };
  }
  const name = token === null ? null : known(secrets.adminTokens, token);
  if (name !== null) return { kind: "operator", name };
  limits.adminFailures(request, 1);
  return { kind: "unknown_token" };
}

/**
 * The operator who sent this request, by `Authorization: Bearer <token>`. Throws Refused: 401, or 429 for a
 * client that is locked out, whatever it sends.
 */
export function operatorOf(context: OperatorCheck, request: Request): { name: string } {
  const answer = checkToken(context, request, bearerOf(request));
  if (answer.kind === "operator") return { name: answer.name };
  if (answer.kind === "locked_out") {
    throw new Refused({
      status: 429,
      code: "locked_out",
      detail: "Too many failed attempts. Try again after Retry-After.",
      headers: { "retry-after": retryAfter(answer.resetMs) },
    });
  }
  throw new Refused({
    status: 401,
    code: "not_an_operator",
    detail: "Send the header Authorization: Bearer <token> with an operator's token.",
    headers: { "www-authenticate": 'Bearer realm="almoner"' },
  });
}

/** Whole seconds until something is looked at again, at least 1. */
export const retryAfter = (resetMs: number): string =>
  String(Math.max(1, Math.ceil(resetMs / 1_000)));

/** Looks at every token, also after a match, so that time tells nothing about which one nearly fits. */
function known(tokens: Context["secrets"]["adminTokens"], given: string): string | null {
  const digest = digestOf(given);
  let found: string | null = null;
  for (const { name, token } of tokens) {
    if (timingSafeEqual(digestOf(token), digest)) found = name;
  }
  return found;
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();
