export { answerEndpoint as GET } from "#site/documents/endpoint.ts";
