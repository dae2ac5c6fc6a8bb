import { answerBytes } from "#content/contract/base/json.ts";
import { endpoint } from "#site/documents/endpoint.ts";

export const GET = endpoint<"/api/needs-enrichment.json">(({ answer }) => answerBytes(answer));
