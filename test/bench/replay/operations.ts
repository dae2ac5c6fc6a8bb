import type { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { exampleOf } from "#content/contract/base/example.ts";
import type { Operation } from "#content/contract/operations/operation.ts";
import { operations } from "#content/openapi/document.ts";
import type { Call, Sample } from "./corpus.ts";

const wrongValues = ["", "x", "-1", "a%00b", "x".repeat(300)];
const wrongBodies = ["", "{", "[]", "{}", "null", '"text"', `{"a":${"[".repeat(99)}`];
const forms = ["text/html", "text/markdown", "text/csv", "application/atom+xml", "image/png"];
const conditions: Record<string, string>[] = [
  { "if-none-match": "*" },
  { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" },
  { range: "bytes=0-9" },
  { "accept-encoding": "br" },
  { origin: "https://a.example" },
  ...forms.map((accept) => ({ accept })),
];

/** What is published is read before the writes change it. */
const readsFirst = operations.toSorted((one, other) => one.method.localeCompare(other.method));

/** Every operation of the description with right and with wrong input; each write is about a nonprofit of its own. */
export const ofOperations = (sample: Sample, token: string): Call[] =>
  readsFirst.flatMap((operation, at) => {
    const path = filled(operation.path, sample, at);
    const headers: Record<string, string> =
      operation.tag === "Operator" ? { authorization: `Bearer ${token}` } : {};
    const calls =
      operation.method === "get"
        ? reads(operation, path, headers)
        : writes(operation, path, headers);
    const strange = operation.path.includes("{")
      ? [{ path: operation.path.replaceAll(/\{\w+\}/g, "nothing-of-this-name"), headers }]
      : [];
    return [
      ...calls,
      ...strange,
      ...(operation.tag === "Operator" ? [{ path }] : []),
      ...["HEAD", "OPTIONS", "DELETE"].map((method) => ({ method, path, headers })),
    ];
  });

function reads({ query }: Operation, path: string, headers: Record<string, string>): Call[] {
  const parameters = Object.entries<z.ZodType>(query?.shape ?? {});
  const examples = parameters.map(([name, shape]) => `${name}=${valueOf(exampleOf(shape))}`);
  const wrong = parameters.flatMap(([name]) => wrongValues.map((value) => `${name}=${value}`));
  return ["", `?${examples.join("&")}`, ...[...examples, ...wrong, "nothing=1"].map((q) => `?${q}`)]
    .map((asked): Call => ({ path: path + asked, headers }))
    .concat(conditions.map((condition) => ({ path, headers: { ...headers, ...condition } })));
}

function writes({ body }: Operation, path: string, headers: Record<string, string>): Call[] {
  const send = (text: string, type = body?.mediaType ?? "application/json"): Call => ({
    method: "POST",
    path,
    headers: { ...headers, "content-type": type },
    body: text,
  });
  const example = body === undefined ? {} : exampleOf(body.shape);
  const right =
    body?.mediaType === undefined
      ? JSON.stringify(example)
      : new URLSearchParams(example as Record<string, string>).toString();
  const members = Object.entries(example as Record<string, unknown>);
  const changed = members.flatMap(([name]) =>
    [undefined, null, 42, {}, "x".repeat(12_000)].map((value) =>
      JSON.stringify({ ...Object.fromEntries(members), [name]: value }),
    ),
  );
  return [
    ...[...wrongBodies, ...changed].map((text) => send(text)),
    send(right, "text/plain"),
    send(JSON.stringify({ text: "x".repeat(70_000) })),
    { ...send(right), headers: { ...send(right).headers, "sec-fetch-site": "cross-site" } },
    { ...send(right), headers: { ...send(right).headers, "idempotency-key": "a b" } },
    send(right),
    send(right),
  ];
}

/** Every address of the table as a GET, a HEAD and for people, in two languages. */
export const ofAddresses = (sample: Sample): Call[] =>
  Object.values(addresses).flatMap(({ path: template }, at): Call[] => {
    const path = filled(template, sample, at).replace("*", "nothing");
    return [
      { path },
      { method: "HEAD", path },
      { path, headers: { accept: "text/html" } },
      { path, headers: { accept: "text/markdown" } },
      { path: `/es${path === "/" ? "" : path}`, headers: { accept: "text/html" } },
      { path: `${path}?nothing=1` },
    ];
  });

const filled = (path: string, { nonprofits, causes }: Sample, at: number): string =>
  path
    .replace("{slug}", nonprofits[10 + (at % Math.max(1, nonprofits.length - 10))]?.slug ?? "")
    .replace("/causes/{list}", `/causes/${causes[at % causes.length]}`)
    .replace("{list}", "kenya")
    .replace("{number}", "1")
    .replace(/\{page\}$/, "2")
    .replace("{page}", "about")
    .replace("{chart}", "enrichments")
    .replace("{icon}", "icon-192")
    .replace("{kind}", "entity")
    .replace("{org_id}", "US-EIN-530196605")
    .replaceAll(/\{\w+\}/g, "41");

const valueOf = (example: unknown): string => encodeURIComponent(String(example));
