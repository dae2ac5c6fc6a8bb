import type { APIRoute } from "astro";
import { answerBytes } from "#content/nonprofit/wire.ts";
import type { LocalsOf, PageLocals } from "./page-locals.ts";

/** An endpoint: a file of the bundle that is not a page, as a pure function of what its document hands to it. */
export const endpoint =
  <Path extends keyof PageLocals>(fileOf: (locals: LocalsOf<Path>) => string): APIRoute =>
  ({ locals }) =>
    new Response(fileOf(locals as App.Locals & LocalsOf<Path>));

/** The value as the service would answer it. */
export const jsonEndpoint = endpoint<"/api/stats.json">(({ answer }) => answerBytes(answer));

/** The text as it is. */
export const textEndpoint = endpoint<"/llms.txt">(({ text }) => text);
