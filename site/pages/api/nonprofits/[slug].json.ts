export { jsonEndpoint as GET } from "#site/parts/endpoint.ts";
