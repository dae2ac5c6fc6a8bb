import { answerBytes } from "#content/contract/base/json.ts";
import { endpoint } from "#site/documents/endpoint.ts";

export const GET = endpoint<"/openapi.json">(({ answer }) => answerBytes(answer));
