import { answerBytes } from "#content/contract/base/json.ts";
import { endpoint } from "#site/documents/endpoint.ts";

/** What scanners look for that want to know what can be paid here. */
export const GET = endpoint<"/.well-known/x402">(({ answer }) => answerBytes(answer));
