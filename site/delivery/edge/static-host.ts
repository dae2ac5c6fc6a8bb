import { headersOf } from "#site/delivery/http-headers.ts";

/**
 * Address patterns of `_headers`, each with a file that is like those it fits. None of them overlap: hosts join the
 * values of a header that two rules set, and half of them would then not know for how long to keep a file.
 */
const groups: readonly [pattern: string, like: string][] = [
  ["/", "index.html"],
  ["/nonprofits/*", "nonprofits/x.html"],
  ["/donate/*", "donate/x.html"],
  ["/widget/*", "widget/donate.js"],
  ["/causes/*", "causes/x.html"],
  ["/countries/*", "countries/x.html"],
  ["/api/*", "api/causes.json"],
  ["/_astro/*", "_astro/x.css"],
  ["/pagefind/*", "pagefind/pagefind.js"],
  ["/search/*", "search/index.json"],
  ["/sitemaps/*", "sitemaps/1.xml"],
  ["/changes/*", "changes/state.json"],
  ["/snapshot/*", "snapshot/manifest.json"],
];

/** Files whose type a host cannot tell from their name. */
const oddTypes = [
  ".well-known/api-catalog",
  "agents.arazzo.yaml",
  "agents.md",
  "snapshot/manifest.json.jws",
] as const;

const everywhere = ["content-security-policy", "referrer-policy", "x-content-type-options"];
const crossOrigin = ["access-control-allow-origin", "access-control-expose-headers"];

/**
 * The `_headers` file of hosts like Netlify and Cloudflare Pages. What no rule fits has the host's own, shorter rule.
 * To renew it: bun -e 'console.write((await import("./site/delivery/edge/static-host.ts")).headersFile())' > site/delivery/edge/_headers
 */
export function headersFile(): string {
  const { others } = headersOf("index.html");
  const common = [...crossOrigin, ...everywhere].map((name) => [name, others[name] ?? ""] as const);
  return [
    "# Made by headersFile in site/delivery/edge/static-host.ts.",
    rule("/*", common),
    ...groups.map(([pattern, like]) =>
      rule(pattern, [["cache-control", headersOf(like).cacheControl], ...linksOf(like)]),
    ),
    ...oddTypes.map((path) =>
      rule(`/${path}`, [["content-type", headersOf(path).contentType], ...linksOf(path)]),
    ),
    "",
  ].join("\n");
}

const linksOf = (path: string): [string, string][] => {
  const { link } = headersOf(path).others;
  return link === undefined ? [] : [["link", link]];
};

const rule = (pattern: string, headers: Iterable<readonly [string, string]>): string =>
  [pattern, ...[...headers].map(([name, value]) => `  ${titleCase(name)}: ${value}`)].join("\n");

const titleCase = (name: string): string =>
  name.replace(/\b[a-z]/g, (first) => first.toUpperCase());

/** What the service answers, whatever the method. */
const serviceOnly: readonly string[] = [
  "/api/search",
  "/api/recommend",
  "/api/stats",
  // The bundle holds it as well, but second opinions must be those of this moment.
  "/api/needs-enrichment",
  "/api/enrich/*",
  "/api/donate/*",
  "/api/donations/*",
  "/api/onboard",
  "/api/onboard/*",
  "/api/admin/*",
  "/mcp",
  "/healthz",
  "/desk",
  "/desk/*",
];

/** Lists that the bundle holds, and the parameters with which they are questions to the service. */
const questions: readonly [path: string, parameters: readonly string[]][] = [
  ["/api/nonprofits", ["limit", "offset"]],
];

/**
 * The `_redirects` file of a host that can proxy (Netlify; Cloudflare Pages cannot). `service` is the origin of the
 * service. Rules are tried in order; a host of this kind matches a query only by naming its parameters, so each
 * combination is a rule.
 */
export function redirectsFile(service: string): string {
  const lines = [
    "# Made by redirectsFile in site/delivery/edge/static-host.ts: from, query, to, status. `!` goes before files.",
    ...serviceOnly.map((path) => `${path}  ${service}${path.replace("*", ":splat")}  200!`),
    ...questions.flatMap(([path, parameters]) =>
      combinationsOf(parameters).map((named) => {
        const query = named.map((name) => `${name}=:${name}`);
        return `${path}  ${query.join(" ")}  ${service}${path}?${query.join("&")}  200!`;
      }),
    ),
    "/api/nonprofits/:slug  /api/nonprofits/:slug.json  200",
    "/api/nonprofits/:slug/history  /api/nonprofits/:slug/history.json  200",
    ...["nonprofits", "causes"].map((name) => `/api/${name}  /api/${name}.json  200`),
    `/api/*  ${service}/api/:splat  200`,
    // Only where no file answers: a nonprofit without a wallet has no page for donations.
    "/donate/:slug  /nonprofits/:slug#give  302",
    "",
  ];
  return lines.join("\n");
}

/** Every choice of one or more, the largest first. */
function combinationsOf(names: readonly string[]): string[][] {
  const [first, ...rest] = names;
  if (first === undefined) return [];
  const others = combinationsOf(rest);
  return [...others.map((more) => [first, ...more]), [first], ...others].sort(
    (a, b) => b.length - a.length,
  );
}
