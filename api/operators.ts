import { createHash, timingSafeEqual } from "node:crypto";
import type { Parts } from "./parts.ts";
import { problem } from "./problem.ts";

/**
 * The operator who sent this request, by `Authorization: Bearer <token>`; else the answer: 401, or 429 for a client with
 * five failures in the last minute, whatever it sends. Compared in constant time. Source: promises.md, 10.
 */
export function operatorOf(
  { secrets, limits }: Pick<Parts, "secrets" | "limits">,
  request: Request,
): { name: string } | Response {
  const looked = limits.adminFailures(request, 0);
  if (looked.remaining === 0) return lockedOut(looked.resetMs);
  const token = /^Bearer +(\S{1,500})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const operator = token === undefined ? null : known(secrets.adminTokens, token);
  if (operator !== null) return { name: operator };
  limits.adminFailures(request, 1);
  return problem({
    status: 401,
    code: "not_an_operator",
    detail: "Send the header Authorization: Bearer <token> with an operator's token.",
    headers: { "www-authenticate": 'Bearer realm="almoner"' },
  });
}

const lockedOut = (resetMs: number): Response =>
  problem({
    status: 429,
    code: "locked_out",
    detail: "Too many failed attempts. Retry-After says when the next one is looked at.",
    headers: { "retry-after": String(Math.max(1, Math.ceil(resetMs / 1_000))) },
  });

/** Looks at every token, also after a match, so that time tells nothing about which one nearly fits. */
function known(tokens: Parts["secrets"]["adminTokens"], given: string): string | null {
  const digest = digestOf(given);
  let found: string | null = null;
  for (const { name, token } of tokens) {
    if (timingSafeEqual(digestOf(token), digest)) found = name;
  }
  return found;
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();
