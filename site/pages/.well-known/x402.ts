/** What scanners look for that want to know what can be paid here. */
export { answerEndpoint as GET } from "#site/documents/endpoint.ts";
