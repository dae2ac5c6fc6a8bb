import { robotsText } from "#site/parts/discovery.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/robots.txt">(({ baseUrl }) => robotsText(baseUrl));
