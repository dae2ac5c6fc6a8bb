export { GET } from "#site/parts/endpoint.ts";
