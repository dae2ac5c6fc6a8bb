import type { APIRoute } from "astro";
import type { LocalsOf, PageLocals } from "./page-locals.ts";

/** The GET of a file that is no page, named by its file under site/pages: `text` is made of what its document loaded. */
export const endpoint =
  <Page extends keyof PageLocals>(text: (loaded: LocalsOf<Page>) => string): APIRoute =>
  ({ locals }) =>
    new Response(text(locals as LocalsOf<Page>));
