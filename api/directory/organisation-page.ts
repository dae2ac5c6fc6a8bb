import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readCacheControl } from "#api/http/headers.ts";
import { Html, html, type Part } from "#api/http/html.ts";
import type { Refusal } from "#api/http/problem.ts";
import type { Organisation } from "#content/contract/standing.ts";
import { dateInWords } from "#content/nonprofit/register-facts.ts";

const style = readFileSync(join(import.meta.dirname, "../../content/editorial/house.css"), "utf8");
/** Nothing is loaded: the style stands in the page. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** What is known of a number, for people: the profile where there is one, else a page of the service. */
export function organisationPage(known: Organisation): Response {
  if (known.profile !== null) {
    const location = `/nonprofits/${known.profile.slug}`;
    const headers = { location, "cache-control": readCacheControl };
    return new Response(null, { status: 308, headers });
  }
  const { name, type, registration_number, country, standing, deductibility, registers } = known;
  const title = name ?? `${type} ${registration_number}`;
  const statements = [
    statement(`Standing: ${standing.value}`, standing),
    deductibility && statement(`Gifts: ${deductibility.value}`, deductibility),
  ];
  return page(title, 200, [
    html`<p>${type} ${registration_number} (${country}). This directory has no profile of it.</p>`,
    ...statements,
    html`<h2>What each register says</h2>
      <ul>
        ${registers.map(
          ({ register_name, state, as_of }) =>
            html`<li>
              ${register_name}: ${state}${as_of === null ? "" : `, as of ${dateInWords(as_of)}`}
            </li>`,
        )}
      </ul>`,
    html`<p><a href="/api/organisations/${known.org_id}">The same as JSON</a></p>`,
  ]);
}

/** Says why a number cannot be looked up. */
export const unreadableNumber = ({
  detail,
  status,
}: Pick<Refusal, "detail" | "status">): Response =>
  page("This number cannot be looked up", status, [html`<p>${detail}</p>`]);

type Statement = Pick<
  Organisation["standing"],
  "meaning" | "register_name" | "as_of" | "record_url"
>;

const statement = (title: string, { meaning, register_name, as_of, record_url }: Statement): Html =>
  html`<h2>${title}</h2>
    <p>${meaning}</p>
    ${
      register_name !== null && as_of !== null
        ? html`<p>
            Says
            ${record_url === null ? register_name : html`<a href="${record_url}" rel="nofollow">${register_name}</a>`},
            as of ${dateInWords(as_of)}.
          </p>`
        : null
    }`;

function page(title: string, status: number, main: Part): Response {
  const whole = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>${title}</title>
      <link rel="icon" href="/favicon.svg" />
      ${new Html(`<style>${style}</style>`)}
    </head>
    <body>
      <header><a href="/">Almoner</a></header>
      <main>
        <h1>${title}</h1>
        ${main}
      </main>
    </body>
  </html>`;
  return new Response(`<!doctype html>\n${whole.toString()}`, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "cache-control": status === 200 ? readCacheControl : "no-store",
    },
  });
}
