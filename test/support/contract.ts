import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiDocument } from "#content/openapi/document.ts";

type Node = { [name: string]: Node } & { $ref?: string };

/**
 * Holds answers against the description. Closed: an answer may not hold a member that is not described, though the
 * description itself leaves objects open for clients.
 */
export function aContract(baseUrl: string) {
  const document = openApiDocument(baseUrl) as unknown as Node;
  const closed = close(structuredClone(document));
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // Redocly holds the description against its own schema, and code that runs a few times needs no polish.
    validateSchema: false,
    code: { optimize: false },
  });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "contract", ...closed });
  const templates = Object.keys(document["paths"] ?? {}).map((template) => ({
    template,
    fits: new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const validators = new Map<string, ReturnType<typeof ajv.compile>>();
  const schemaErrors = (pointer: string, value: unknown): string | null => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `contract#${pointer}` });
    validators.set(pointer, known);
    return known(value) ? null : ajv.errorsText(known.errors);
  };
  /** Whether a header need not be there: that is said of it. */
  const isOptional = (header: string): boolean =>
    document["components"]?.["headers"]?.[header]?.["required"]?.valueOf() === false;
  return {
    document,
    schemaErrors,
    /** Every parameter of every operation. */
    parameters: () => parametersOf(document),
    /** Names of parameters and headers that have no example, or one that does not fit. */
    examplesAmiss(): string[] {
      const headers = Object.entries(document["components"]?.["headers"] ?? {});
      const named = headers.map(([name, header]) => ({ ...(header as Described), name }));
      return [...parametersOf(document), ...named]
        .filter(({ schema, example }) => !ajv.validate(schema, example))
        .map(({ name }) => name);
    },
    /** What is wrong with an answer; empty when the description holds. */
    async problemsOf(method: string, url: string, response: Response): Promise<string[]> {
      const path = new URL(url, baseUrl).pathname;
      // A fixed path counts before one with a place to fill.
      const found = templates
        .filter(({ fits }) => fits.test(path))
        .toSorted((a, b) => a.template.split("{").length - b.template.split("{").length)[0];
      const name = `${method} ${url} → ${response.status}`;
      const operation = document["paths"]?.[found?.template ?? ""]?.[method.toLowerCase()];
      if (found === undefined || operation === undefined) return [`${name}: not described`];
      const status = String(response.status);
      const own = `/paths/${escaped(found.template)}/${method.toLowerCase()}/responses/${status}`;
      const described = operation["responses"]?.[status];
      if (described === undefined) return [`${name}: status not described`];
      const pointer = described.$ref?.slice(1) ?? own;
      const answer = at(document, pointer);
      const body = await bodyProblem(answer, response, (type, value) =>
        schemaErrors(`${pointer}/content/${escaped(type)}/schema`, value),
      );
      return [
        ...headerProblems(answer, response, isOptional),
        ...(body === null ? [] : [body]),
      ].map((problem) => `${name}: ${problem}`);
    },
  };
}

function headerProblems(
  answer: Node,
  { headers }: Response,
  isOptional: (header: string) => boolean,
): string[] {
  const described = Object.keys(answer["headers"] ?? {});
  const known = new Set(described.map((header) => header.toLowerCase()));
  const missing = described.filter(
    (header) => !header.startsWith("RateLimit") && !isOptional(header) && !headers.has(header),
  );
  const unknown = [...headers.keys()].filter(
    (header) => !known.has(header) && !plainHeaders.has(header),
  );
  return [
    ...missing.map((header) => `without the header ${header}`),
    ...unknown.map((header) => `with the header ${header}, not described`),
  ];
}

async function bodyProblem(
  answer: Node,
  response: Response,
  errorsOf: (type: string, value: unknown) => string | null,
): Promise<string | null> {
  const text = await response.text();
  if (answer["content"] === undefined) return text === "" ? null : "has a body";
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (answer["content"][type] === undefined) return `is ${type}`;
  return errorsOf(type, /[/+]json$/.test(type) ? JSON.parse(text) : text);
}

/** Headers that mean the same in any answer of any service. */
const plainHeaders: ReadonlySet<string> = new Set([
  "access-control-expose-headers",
  "content-encoding",
  "content-length",
  "content-type",
  "referrer-policy",
  "vary",
  "x-content-type-options",
  // For the CDN before the directory.
  "cache-tag",
]);

type Described = { schema: object; example?: unknown };
export type Parameter = Described & { name: string; in: string; required?: boolean };

function parametersOf(document: Node): Parameter[] {
  const operations = Object.values(document["paths"] ?? {}).flatMap((item) => Object.values(item));
  return (operations as Node[])
    .flatMap((operation) => Object.values(operation["parameters"] ?? {}) as Node[])
    .map((one) => (one.$ref === undefined ? one : at(document, one.$ref.slice(1))))
    .map((one) => one as unknown as Parameter);
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const at = (document: Node, pointer: string): Node => {
  let node: Node = document;
  for (const part of pointer.slice(1).split("/")) {
    const next = node[part.replaceAll("~1", "/").replaceAll("~0", "~")];
    if (next === undefined) throw new Error(`nothing at ${pointer}`);
    node = next;
  }
  return node;
};

/** Objects with known members, and no word on others, get to hold no others. */
function close<Value>(node: Value): Value {
  if (Array.isArray(node)) for (const item of node) close(item);
  else if (typeof node === "object" && node !== null) {
    const schema = node as Record<string, unknown>;
    if (schema["type"] === "object" && "properties" in schema)
      schema["additionalProperties"] ??= false;
    for (const value of Object.values(schema)) close(value);
  }
  return node;
}
