import { type AddressForm, addressForms, patternOf } from "#content/language/address-pattern.ts";
import { cacheControls } from "./http-headers.ts";

/** The lines of a server's configuration that follow from the table of addresses, by the name of their part. */
export type EdgeParts = Readonly<Record<string, readonly string[]>>;

/** A language is two letters, or two and a part after a hyphen: docs/decisions/0189. */
const anyLanguage = "[a-z]{2}(?:-[a-z]{2,4})?";

type IsMeant = (form: AddressForm) => boolean;

const formsWhere = (isMeant: IsMeant): AddressForm[] =>
  addressForms.filter((form) => form.local !== true && !isInArea(form) && isMeant(form));

/** Addresses all of whose neighbours the service answers too need no rule of their own. */
const isInArea = ({ path }: AddressForm): boolean =>
  areas.some((area) => path !== area && path.startsWith(area.slice(0, -1)));
const areas = addressForms
  .filter(({ from, path }) => from === "service" && path.endsWith("/*") && path !== "/api/*")
  .map(({ path }) => path);

/** One pattern for all of them, those in other languages behind one prefix. */
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
const isOfService: IsMeant = (form) =>
  form.from === "service" && !isMoved(form) && !form.translated;
const isLive: IsMeant = ({ from }) => from === "live";
const isQueried: IsMeant = ({ from, translated }) => from === "queried" && !translated;
/** What has no file in other languages, or none for a query. */
const isTranslated: IsMeant = ({ from, translated }) => translated && from !== "file";

const allOf =
  (...parts: IsMeant[]): IsMeant =>
  (form) =>
    parts.every((isMeant) => isMeant(form));
const not =
  (isMeant: IsMeant): IsMeant =>
  (form) =>
    !isMeant(form);

const toService = "{ try_files /.none @service; }";
const toFileUnlessQueried = "{ include nginx/headers.conf; try_files $almoner_unasked @service; }";

const movedInNginx = (form: AddressForm): string => {
  const pattern = patternOf(form).replace("[^/]+", "([^/]+)");
  return `location ~ "^${pattern}$" { return 308 ${form.moved?.replace(/\{\w+\}/, "$1")}; }`;
};

const nginxMaps: EdgeParts = {
  caching: formsWhere(({ cache }) => cache !== undefined).map(
    (form) => `  "~^${patternOf(form)}$" "${cacheControls[form.cache ?? "page"]}";`,
  ),
  "what of the API is no file": [
    String.raw`  "~^(GET|HEAD)\ (?:${anyOf(isLive)})\??$" /.none;`,
    String.raw`  "~^(GET|HEAD)\ (?:${anyOf(allOf(isQueried, isOfApi))})\?$" /.none;`,
  ],
  "what the bundle has of live answers": [
    String.raw`  "~^(GET|HEAD)\ (?<almoner_live>${anyOf(isLive)})$" $almoner_live.json;`,
  ],
};

const nginxLocations: EdgeParts = {
  locations: [
    ...formsWhere(allOf(isMoved, ({ translated }) => !translated)).map(movedInNginx),
    `location ~ "^(?:${anyOf(allOf(isQueried, not(isOfApi)))})$" ${toFileUnlessQueried}`,
    `location ~ "^(?:${anyOf(isTranslated)})$" ${toFileUnlessQueried}`,
    `location ~ "^(?:${anyOf(allOf(isOfService, not(isOfApi)))})$" ${toService}`,
  ],
};

const varnish: EdgeParts = {
  "what only the service answers": [
    ...[
      anyOf(
        allOf(
          isOfService,
          not(({ path }) => path === "/api/*"),
        ),
      ),
      anyOf(isLive),
      anyOf(allOf(isMoved, ({ translated }) => !translated)),
    ].map((pattern) => String.raw`  if (req.url ~ "^(?:${pattern})/?(?:\?|$)") { return (pass); }`),
    String.raw`  if (req.url ~ "^(?:${anyOf(({ from }) => from === "queried")})/?\?.") { return (pass); }`,
  ],
};

const service = "https://service.almoner.example";

/** A pattern as static hosts write it: ":slug" for one part of a path, "*" at its end for the rest. */
const hostPattern = ({ path, translated }: AddressForm): string =>
  (translated ? "/:language" : "") + path.replaceAll(/\{(\w+)\}/g, ":$1");

const toHost = (form: AddressForm): string => hostPattern(form).replace("*", ":splat");

const proxied = (form: AddressForm, status: string): string =>
  `${hostPattern(form)}  ${service}${toHost(form)}  ${status}`;

const redirects: EdgeParts = {
  addresses: [
    // An exclamation mark goes before files.
    ...formsWhere((form) => isLive(form) || form.from === "queried").map((form) =>
      proxied(form, "200!"),
    ),
    ...formsWhere(allOf(isMoved, ({ translated }) => !translated)).map(
      (form) => `${hostPattern(form)}  ${form.moved?.replaceAll(/\{(\w+)\}/g, ":$1")}  308`,
    ),
    ...formsWhere(allOf(isOfService, not(isOfApi))).map((form) => proxied(form, "200!")),
    ...formsWhere(
      ({ from, path }) => from === "file" && path.startsWith("/api/") && !path.includes("."),
    ).map((form) => `${hostPattern(form)}  ${hostPattern(form)}.json  200`),
    `/api/*  ${service}/api/:splat  200`,
    ...formsWhere((form) => form.translated && form.from === "service" && !isMoved(form)).map(
      (form) => proxied(form, "200"),
    ),
  ],
};

/** The configurations of servers in front, by their paths from this folder. */
export const edgeParts: Readonly<Record<string, EdgeParts>> = {
  "edge/nginx/http.conf": nginxMaps,
  "edge/nginx/server.conf": nginxLocations,
  "edge/varnish.vcl": varnish,
  "edge/_redirects": redirects,
};

/** A configuration with each of its parts as the table has it: what stands between "# From the table of addresses: name" and "# End". */
export function withParts(text: string, parts: EdgeParts): string {
  return Object.entries(parts).reduce(
    (whole, [name, lines]) =>
      whole.replace(
        new RegExp(`( *# From the table of addresses: ${name}\\n)[^]*?( *# End of it\\n)`),
        (_, begin: string, end: string) => `${begin}${lines.join("\n")}\n${end}`,
      ),
    text,
  );
}
