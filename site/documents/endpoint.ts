import type { APIRoute } from "astro";
import { answerBytes } from "#content/contract/base/json.ts";
import { version } from "#content/contract/base/version.ts";
import type { LocalsOf, PageLocals } from "./page-locals.ts";

/** The GET of a file that is no page, named by its file under site/pages: `text` is made of what its document loaded. */
export const endpoint =
  <Page extends keyof PageLocals>(text: (loaded: LocalsOf<Page>) => string): APIRoute =>
  ({ locals }) =>
    new Response(text(locals as LocalsOf<Page>));

/** The GET of what the service answers, too. */
export const answerEndpoint = endpoint<AnswerFile>(({ answer }) => answerBytes(answer));

type AnswerFile = {
  [Page in keyof PageLocals]: PageLocals[Page] extends { answer: object } ? Page : never;
}[keyof PageLocals];

/** What the directory is, in one sentence for models. */
const purpose =
  "An open directory of nonprofits: search it, read profiles, get recommendations with reasons, and complete missing data.";

/** A guide with its {{places}} filled. Throws for a place that no one fills: a slip of the pen. */
export const filled = (guide: string, values: Readonly<Record<string, string>>): string =>
  guide.replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
    const value = values[place];
    if (value === undefined) throw new Error(`a guide has the place ${place}, and nothing for it`);
    return value;
  });

/** A guide in which nothing stands that changes with the data. */
export const fixedGuide = (guide: string, baseUrl: string): string => {
  const { hostname: host } = new URL(baseUrl);
  const reversed_host = host.split(".").toReversed().join(".");
  return filled(guide, { base_url: baseUrl, host, reversed_host, purpose, version });
};

/** The GET of such a guide. */
export const guideEndpoint =
  (guide: string): APIRoute =>
  ({ locals }) =>
    new Response(fixedGuide(guide, (locals as { baseUrl: string }).baseUrl));
