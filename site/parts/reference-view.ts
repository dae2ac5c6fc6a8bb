import { exampleOf } from "#content/contract/base/example.ts";
import type { Operation } from "#content/contract/operations/operation.ts";
import { describedParameter, operations } from "#content/openapi/document.ts";
import { withParams } from "./address.ts";

/** The operators' operations are left out; docs/desk.md and OpenAPI describe them. Those of one path follow each other. */
const ofEveryone = operations.filter(({ tag }) => tag !== "Operator");
const inOrder = [...Map.groupBy(ofEveryone, ({ path }) => path).values()].flatMap((ofPath) =>
  ofPath.toSorted((a, b) => a.method.localeCompare(b.method)),
);

/** The operations for people: their groups as in OpenAPI, each operation with a command to try. */
export const referenceView = (baseUrl: string) =>
  [...Map.groupBy(inOrder, ({ tag }) => tag)].map(([name, ofRoom]) => ({
    name,
    operations: ofRoom.map((operation) => {
      const { method, path, summary, description } = operation;
      const parameters = parametersOf(operation);
      return {
        id: `${method}-${path.replaceAll(/\W+/g, "-").replace(/^-|-$/g, "")}`,
        method: method.toUpperCase(),
        path,
        summary,
        paragraphs: description.split("\n\n").filter((text) => text !== ""),
        parameters,
        example: exampleIn(baseUrl, operation, parameters),
      };
    }),
  }));

const parametersOf = ({ query }: Operation) =>
  Object.entries(query?.shape ?? {}).map(([name, shape]) => {
    const { description, required, example = "…" } = describedParameter(shape);
    return { name, description, required: required === true, example: String(example) };
  });

function exampleIn(
  baseUrl: string,
  { method, path, body }: Operation,
  parameters: ReturnType<typeof parametersOf>,
): string {
  const required = parameters.filter((parameter) => parameter.required);
  // An operation about nothing that its path names may answer nothing without a parameter, whichever it is.
  const sent = required.length > 0 || path.includes("{") ? required : parameters.slice(0, 1);
  const query = sent.map(({ name, example }) => [name, example]);
  const url = withParams(baseUrl + path, new URLSearchParams(query));
  if (method === "get") return `curl "${url}"`;
  if (body === undefined) return `curl -X POST "${url}"`;
  const example = exampleOf(body.shape);
  if (body.mediaType !== undefined) {
    const fields = Object.entries(example ?? {}).map(([name, text]) => `'${name}=${text}'`);
    return `curl "${url}" --data-urlencode ${fields.join(" --data-urlencode ")}`;
  }
  const json = JSON.stringify(example, null, 2).replaceAll("'", "’");
  return `curl -X POST "${url}" -H "Content-Type: application/json" -d '${json}'`;
}
