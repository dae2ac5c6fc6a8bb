import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { load } from "cheerio";
import { exportPlainSite, plainAddress } from "#scripts/export.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { freePort, runProgram, untilAnswers } from "#test/support/processes.ts";
import { theBuiltDirectory } from "#test/support/publisher.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";
import { serveHere } from "#test/support/serve-here.ts";

const baseUrl = "https://almoner.example";
const directory = await theBuiltDirectory([
  { slug: "oak", name: "Oak", causes: ["education"], country_code: "KE" },
  { slug: "well", usdc_wallet: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" },
]);
await directory.publish("oak", { city: "Kisumu" });
const folder = join(directory.dataDir, "plain");

const written = ({ signal } = new AbortController()) =>
  exportPlainSite({ ...publisherFolders(directory.dataDir), folder, baseUrl, signal });

test.each([
  ["/", "/"],
  ["/nonprofits/oak", "/nonprofits/oak/"],
  ["/widget?nonprofit=oak#code", "/widget/?nonprofit=oak#code"],
  ["/api/nonprofits/oak", "/api/nonprofits/oak.json"],
  ["/api/nonprofits?cause=health", "https://almoner.example/api/nonprofits?cause=health"],
  ["/causes/education-2", "/causes/education-2/"],
  ["/agents.md", "/agents.md"],
  ["/desk", "https://almoner.example/desk"],
  ["//other.example/x", "//other.example/x"],
])("a link to %s leads to %s", (link, plain) => {
  const files = new Set(
    "index nonprofits/oak causes/education-2 widget".split(" ").map((name) => `${name}.html`),
  ).union(new Set(["api/nonprofits/oak.json", "api/nonprofits.json", "agents.md"]));
  expect(plainAddress(link, files, baseUrl)).toBe(plain);
});

test("pages and files are written, also after an export that was stopped", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 0);
  expect(await written(stop).then(null, () => "stopped")).toBe("stopped");
  expect(readdirSync(folder)).toEqual([]);
  expect(await written()).toBeGreaterThan(100);
});

const isFile = (path: string): boolean =>
  statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true;

const clientBin = (path: string) => ["node", clientFile(`node_modules/${path}`)];
const python = (port: string) => ["python3", "-m", "http.server", port];
const hosts: [string, (port: string) => string[]][] = [
  ["serve", (port) => [...clientBin("serve/build/main.js"), "-L", "-p", port]],
  ["http-server", (port) => [...clientBin("http-server/bin/http-server"), "-p", port]],
];

/** Where the links of the plain site lead: on the host itself, and away from it, to the service. */
function linksOf(html: string): { here: string[]; away: string[] } {
  const $ = load(html);
  const links = $("[href], [src], [action]").map((_, { attribs }) => {
    const { href, src, action } = attribs;
    return href ?? src ?? action ?? "";
  });
  const [away, others] = [true, false].map((isAway) =>
    links.get().filter((link) => link.startsWith(`${baseUrl}/`) === isAway),
  );
  return { here: others ?? [], away: (away ?? []).map((link) => link.slice(baseUrl.length)) };
}

/** Runs a host on the folder, and looks at it. */
async function hosting(command: (port: string) => string[], look: (url: string) => Promise<void>) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const io = { cwd: folder, stdout: "ignore", stderr: "ignore" } as const;
  const server = Bun.spawn(command(String(port)), io);
  try {
    await untilAnswers(url, server);
    await look(url);
  } finally {
    server.kill();
    await server.exited;
  }
}

const seen = new Set(["/"]);
const away = new Set<string>();

test("every link of the plain site works, and others lead to what only the service has", async () => {
  const broken: string[] = [];
  await hosting(python, async (url) => {
    for (const path of seen) {
      const answer = await fetch(`${url}${path}`);
      if (answer.status !== 200) broken.push(`${answer.status} ${path}`);
      if (answer.headers.get("content-type")?.startsWith("text/html") !== true) continue;
      const links = linksOf(await answer.text());
      for (const link of links.away) away.add(link);
      for (const link of links.here) {
        const next = new URL(link, `${url}${path}`);
        if (next.origin === url) seen.add(next.pathname);
      }
    }
  });
  expect(broken).toEqual([]);
  for (const path of ["/nonprofits/oak/", "/causes/education/", "/browse/"])
    expect([path, seen.has(path)]).toEqual([path, true]);
  expect([...away].filter(isFile)).toEqual([]);
  for (const path of ["/donate/well", "/onboard", "/corrections", "/match"])
    expect([path, away.has(path), isFile(`${path}/index.html`)]).toEqual([path, true, false]);
  // What the script of a profile asks the service.
  const payable = readFileSync(join(folder, "nonprofits/well/index.html"), "utf8");
  expect(payable).toContain(`data-directory="${baseUrl}"`);
  // As the search box has it: such a host redirects to the folder.
  expect(readFileSync(join(folder, "nonprofits/oak/index.html"), "utf8")).toContain("Oak");
});

test.skipIf(!clientsInstalled).each(hosts)(
  "every address that was linked answers on %s, too",
  async (_, command) => {
    const broken: string[] = [];
    await hosting(command, async (url) => {
      for (const path of seen) {
        const { status } = await fetch(`${url}${path}`);
        if (status !== 200) broken.push(`${status} ${path}`);
      }
    });
    expect(broken).toEqual([]);
  },
);

/** Pages that are folders, too: a copy without extensions keeps what lies in them. */
const foldersToo = ["causes", "countries", "es", "fr", "statistics", "data"];

test.skipIf(Bun.which("wget") === null)(
  "wget --mirror loses no page but those that are folders, and none with --adjust-extension",
  async () => {
    const reader = openBundleReader(join(directory.dataDir, "bundle"));
    const bundle = createBundleServer(reader);
    const server = serveHere(
      (request) => bundle.answer(request) ?? new Response(null, { status: 404 }),
    );
    const pages = directory.publisher.context.manifest.db
      .query<{ path: string }, []>("SELECT path FROM files WHERE path LIKE '%.html'")
      .all()
      .map(({ path }) => path.slice(0, -".html".length))
      // Nothing links to these, or they are files by this name.
      .filter(
        (path) =>
          !/^(?:(?:..\/)?(?:404|search|compare|(?:onboard|corrections)\/status)|index|receipt|nonprofits)$/.test(
            path,
          ),
      );
    const lost = async (extension: string, ...options: string[]) => {
      const copy = mkdtempSync(join(directory.dataDir, "copy-"));
      await runProgram(["wget", "--mirror", "-nH", "-q", ...options, server.url.href], {
        cwd: copy,
      });
      return pages.filter(
        (path) =>
          !(statSync(join(copy, path + extension), { throwIfNoEntry: false })?.isFile() ?? false),
      );
    };
    expect(await lost("")).toEqual(foldersToo);
    expect(await lost(".html", "--adjust-extension")).toEqual([]);
    await server.stop(true);
    reader.close();
  },
);

test("a folder in use is left as it is, and a data folder without a site is told of", () => {
  expect(written()).rejects.toThrow("is not empty");
  const nothing = { bundle: join(folder, "none"), folder: "none", baseUrl };
  expect(exportPlainSite(nothing)).rejects.toThrow("Nothing was published");
});
