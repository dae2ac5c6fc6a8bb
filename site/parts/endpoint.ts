import type { APIRoute } from "astro";

/** An endpoint: a file of the bundle that is not a page. Its document hands it the text of the file. */
export const GET: APIRoute = ({ locals }) => new Response(String(locals["text"]));
