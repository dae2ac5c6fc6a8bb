export { textEndpoint as GET } from "#site/parts/endpoint.ts";
