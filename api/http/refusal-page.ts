import { addressOf } from "#content/contract/base/request.ts";
import type { z } from "zod";
import { addressesWhere } from "#content/language/address-pattern.ts";
import type { Problem } from "#content/contract/problem.ts";
import type { FormPage } from "#content/contract/form-pages.ts";
import { formOf, type PageForm } from "./headers.ts";

/** Draws a page for one reader at one moment, so no cache stores it. `status` is 200 by default. */
export type DrawForm = {
  form(page: FormPage, form: PageForm, status?: number): Promise<Response>;
};

/** Addresses for programs: a browser that opens one sees what a program gets. The desk draws its own refusals. */
const ofPrograms = addressesWhere((form) => form.for !== "people" && form.from !== "file");
const ofOperators = addressesWhere((form) => form.for === "operators");
const sentByForm = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

/** Whether a person waits for the answer: a browser opens a page or sends a form. Scripts in pages accept any type. */
function asksForPage(request: Request): boolean {
  const { method, headers } = request;
  if (headers.get("accept")?.includes("text/html") !== true) return false;
  const { path } = addressOf(request);
  if (method !== "POST") return !ofPrograms.test(path);
  return sentByForm.test(headers.get("content-type") ?? "") && !ofOperators.test(path);
}

/** Turns a refusal into a page for a person. Every answer of the service passes here once; without a site, unchanged. */
export async function refusalForPeople(
  { draw, onTrouble }: { draw: DrawForm | undefined; onTrouble: (error: unknown) => void },
  response: Response,
  request: Request,
): Promise<Response> {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  if (!isProblem || draw === undefined || !asksForPage(request)) return response;
  const { status, code, detail } = (await response.clone().json()) as z.output<typeof Problem>;
  const waitS = Number(response.headers.get("retry-after")) || null;
  const sent = request.method === "POST";
  try {
    const refusal = { page: "/refusal", status, code, detail, waitS, sent } as const;
    const page = await draw.form(refusal, formOf(request), status);
    for (const name of ["retry-after", "allow"]) {
      const value = response.headers.get(name);
      if (value !== null) page.headers.set(name, value);
    }
    return page;
  } catch (error) {
    // When the page cannot be drawn, the JSON refusal is sent.
    onTrouble(error);
    return response;
  }
}
