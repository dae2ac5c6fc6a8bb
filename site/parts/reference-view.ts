import { z } from "zod";
import { withParams } from "./address.ts";

const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  description: z.string().default(""),
  required: z.boolean().default(false),
  example: z.unknown().optional(),
});
const Body = z.object({
  content: z.record(z.string(), z.object({ example: z.unknown().optional() })),
});
const Operation = z.object({
  tags: z.array(z.string()).min(1),
  summary: z.string(),
  description: z.string().default(""),
  parameters: z.array(z.union([Parameter, z.object({ $ref: z.string() })])).default([]),
  requestBody: Body.optional(),
});
/** The parts of the OpenAPI description that the page shows. */
const Description = z.object({
  servers: z.array(z.object({ url: z.string() })).min(1),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});

const methods = ["get", "post"] as const;
/** The operators' operations; docs/desk.md and OpenAPI describe them. */
const leftOut = "Operator";

/** The OpenAPI description for people: its groups and operations in the same order, each with a command to try. */
export function referenceView(document: object) {
  const { servers, paths } = Description.parse(document);
  const base = servers[0]?.url ?? "";
  const all = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = Operation.safeParse(item[method]).data;
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
  const rooms = Map.groupBy(all, ({ operation }) => operation.tags[0] ?? "");
  rooms.delete(leftOut);
  return [...rooms].map(([name, operations]) => ({
    name,
    operations: operations.map(({ path, method, operation }) => {
      const parameters = operation.parameters.filter((parameter) => "name" in parameter);
      return {
        id: `${method}-${path.replaceAll(/\W+/g, "-").replace(/^-|-$/g, "")}`,
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        paragraphs: operation.description.split("\n\n").filter((text) => text !== ""),
        parameters: parameters.filter((parameter) => parameter.in !== "header"),
        example: exampleOf(base, path, method, operation),
      };
    }),
  }));
}

function exampleOf(
  base: string,
  path: string,
  method: string,
  { parameters, requestBody }: z.infer<typeof Operation>,
): string {
  const named = parameters.filter((parameter) => "name" in parameter);
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    String(named.find((parameter) => parameter.name === name)?.example ?? whole),
  );
  const query = new URLSearchParams(
    named.flatMap(({ in: where, required, name, example }) =>
      where === "query" && required ? [[name, String(example ?? "…")]] : [],
    ),
  );
  const url = withParams(base + filled, query);
  const body = requestBody?.content["application/json"]?.example;
  if (method === "get" || body === undefined) return `curl "${url}"`;
  const json = JSON.stringify(body, null, 2).replaceAll("'", "’");
  return `curl -X POST "${url}" -H "Content-Type: application/json" -d '${json}'`;
}
