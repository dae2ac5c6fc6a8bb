import guide from "#content/editorial/guides/api-catalog.json?raw";
import { guideEndpoint } from "#site/documents/endpoint.ts";

/** Source: RFC 9727, as a link set of RFC 9264. The paths of the description begin at its second anchor. */
export const GET = guideEndpoint(guide);
