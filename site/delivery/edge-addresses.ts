import { type AddressForm, addressForms, patternOf } from "#content/language/address-pattern.ts";
import { staticPagesMax } from "#content/contract/browse.ts";
import { cacheControls, pageParameters } from "./http-headers.ts";

/** The lines of a server's configuration that are made from the table of addresses, by the name of their part. */
export type EdgeParts = Readonly<Record<string, readonly string[]>>;

/** A language code is two letters, or two letters, a hyphen and two to four more: docs/decisions/39. */
const anyLanguage = "[a-z]{2}(?:-[a-z]{2,4})?";

type IsMeant = (form: AddressForm) => boolean;

const formsWhere = (isMeant: IsMeant): AddressForm[] =>
  addressForms.filter((form) => form.local !== true && !isInArea(form) && isMeant(form));

/** True for an address inside an area that the service answers as a whole: it needs no rule of its own. */
const isInArea = ({ path }: AddressForm): boolean =>
  areas.some((area) => path !== area && path.startsWith(area.slice(0, -1)));
const areas = addressForms
  .filter(({ from, path }) => from === "service" && path.endsWith("/*") && path !== "/api/*")
  .map(({ path }) => path);

/** One pattern for all matching addresses, with the translated ones behind one language prefix. */
function anyOf(isMeant: IsMeant): string {
  const [inEnglish = [], translated = []] = [false, true].map((wanted) =>
    formsWhere((form) => form.translated === wanted && isMeant(form)).map((form) =>
      patternOf({ ...form, translated: false }),
    ),
  );
  if (translated.length > 0) inEnglish.push(`/${anyLanguage}(?:${translated.join("|")})`);
  return inEnglish.join("|");
}

const isOfApi: IsMeant = ({ path }) => path.startsWith("/api/");
const isMoved: IsMeant = ({ moved, from }) => moved !== undefined && from === "service";
const isEnglish: IsMeant = ({ translated }) => !translated;
/** Addresses outside the API that only the service answers. */
const isOfService: IsMeant = (form) =>
  form.from === "service" && !isMoved(form) && !form.translated && !isOfApi(form);
const isLive: IsMeant = ({ from }) => from === "live";
/** One file for each of many names. A host that cannot see the query serves the file rather than ask the service for all. */
const isFileByName: IsMeant = ({ from, path }) =>
  from === "file" || (from === "queried" && path.includes("{"));
const isQueried: IsMeant = ({ from, translated }) => from === "queried" && !translated;
/** Translated addresses without a file, or without one for a query. */
const isTranslated: IsMeant = ({ from, translated }) => translated && from !== "file";
/** Addresses without a file in any language. */
const isServiceInAll: IsMeant = ({ path, from }) =>
  from === "service" &&
  formsWhere(isEnglish).some((form) => form.path === path && form.from === "service");
const isList: IsMeant = ({ path, translated }) => path.endsWith("/{list}") && !translated;

const toService = "{ try_files /.none @service; }";
const toFileUnlessQueried = "{ include nginx/headers.conf; try_files $almoner_unasked @service; }";

/** A path segment that is safe in a header: nginx matches the decoded path, which may contain line breaks. */
const part = String.raw`([\w.~-]+)`;
const movedForms = formsWhere((form) => isMoved(form) && isEnglish(form)).map((form) => {
  const names = [...form.path.matchAll(/\{\w+\}/g)].map(([name]) => name);
  return {
    form,
    pattern: `^${patternOf(form).replaceAll("[^/]+", part)}$`,
    to: (form.moved ?? "").replaceAll(/\{\w+\}/g, (name) => `$${names.indexOf(name) + 1}`),
  };
});

/** Query parameters that ask for a part of a cause's or country's list. */
const narrowingPattern = `(?:${[...pageParameters].join("|")})=`;

const nginxMaps: EdgeParts = {
  caching: formsWhere(({ cache }) => cache !== undefined).map(
    (form) => `  "~^${patternOf(form)}$" "${cacheControls[form.cache ?? "page"]}";`,
  ),
  "what narrows a list": [`  "~(?:^|&)${narrowingPattern}" 1;`],
  "what of the API is no file": [
    String.raw`  "~^(GET|HEAD)\ (?:${anyOf(isLive)})\??$" /.none;`,
    String.raw`  "~^(GET|HEAD)\ (?:${anyOf((form) => isQueried(form) && isOfApi(form))})\?$" /.none;`,
  ],
  "what the bundle has of live answers": [
    String.raw`  "~^(GET|HEAD)\ (?<almoner_live>${anyOf(isLive)})$" $almoner_live.json;`,
  ],
};

const nginxLocations: EdgeParts = {
  locations: [
    ...movedForms.map(
      ({ pattern, to }) =>
        `location ~ "${pattern}" { include nginx/headers.conf; return 308 ${to}; }`,
    ),
    `location ~ "^(?:${anyOf((form) => isQueried(form) && !isOfApi(form))})$" ${toFileUnlessQueried}`,
    `location ~ "^(?:${anyOf(isTranslated)})$" ${toFileUnlessQueried}`,
    `location ~ "^(?:${anyOf(isOfService)})$" ${toService}`,
  ],
};

const varnish: EdgeParts = {
  "what only the service answers": [
    ...[anyOf((form) => isServiceInAll(form) && form.path !== "/api/*"), anyOf(isLive)].map(
      (pattern) => String.raw`  if (req.url ~ "^(?:${pattern})/?(?:\?|$)") { return (pass); }`,
    ),
    String.raw`  if (req.url ~ "^(?:${anyOf((form) => isQueried(form) || isTranslated(form))})/?\?.") { return (pass); }`,
    String.raw`  if (req.url ~ "^(?:${anyOf(isList)})\?(?:.*&)?${narrowingPattern}") { return (pass); }`,
  ],
};

const cloudFront: EdgeParts = {
  "where pages are now": movedForms.map(
    ({ pattern, to }) => `  [/${pattern.replaceAll("/", String.raw`\/`)}/, "${to}"],`,
  ),
  "what narrows a list": [...pageParameters].map((name) => `  "${name}",`),
  "pages of a list that are files": [`const pagesMax = ${staticPagesMax};`],
};

const service = "https://service.almoner.example";

/** A pattern as static hosts write it: ":slug" for one path segment, "*" at the end for the rest. */
const hostPattern = ({ path, translated }: AddressForm): string =>
  (translated ? "/:language" : "") + path.replaceAll(/\{(\w+)\}/g, ":$1");

const toHost = (form: AddressForm): string => hostPattern(form).replace("*", ":splat");

const proxyRule = (form: AddressForm, status: string): string =>
  `${hostPattern(form)}  ${service}${toHost(form)}  ${status}`;

const redirects: EdgeParts = {
  addresses: [
    // An exclamation mark makes the rule win over files.
    ...formsWhere((form) => isLive(form) || (form.from === "queried" && !isFileByName(form))).map(
      (form) => proxyRule(form, "200!"),
    ),
    ...movedForms.map(
      ({ form }) => `${hostPattern(form)}  ${form.moved?.replaceAll(/\{(\w+)\}/g, ":$1")}  308`,
    ),
    ...formsWhere(isOfService).map((form) => proxyRule(form, "200!")),
    ...formsWhere((form) => isFileByName(form) && isOfApi(form) && !form.path.includes(".")).map(
      (form) => `${hostPattern(form)}  ${hostPattern(form)}.json  200`,
    ),
    `/api/*  ${service}/api/:splat  200`,
    ...formsWhere((form) => form.translated && form.from === "service" && !isMoved(form)).map(
      (form) => proxyRule(form, "200"),
    ),
  ],
};

/** The configurations of servers in front, by path relative to this folder. */
export const edgeParts: Readonly<Record<string, EdgeParts>> = {
  "edge/nginx/http.conf": nginxMaps,
  "edge/nginx/server.conf": nginxLocations,
  "edge/varnish.vcl": varnish,
  "edge/cloudfront-function.js": cloudFront,
  "edge/_redirects": redirects,
};

/** Replaces each generated part of a configuration: the lines from "From the table of addresses: name" to "End of it". */
export function withParts(text: string, parts: EdgeParts): string {
  return Object.entries(parts).reduce(
    (match, [name, lines]) =>
      match.replace(
        new RegExp(
          `( *(?:#|//) From the table of addresses: ${name}\\n)[^]*?( *(?:#|//) End of it\\n)`,
        ),
        (_, begin: string, end: string) => `${begin}${lines.join("\n")}\n${end}`,
      ),
    text,
  );
}
