import { aFolder, forFile } from "./at-file-top.ts";
import { openListIndex } from "#content/find/browse-store.ts";
import { load } from "cheerio";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { holdsSample } from "#content/operation/directory-facts-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { type DocumentKey, partsOf } from "#site/documents/document.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer, type Renderer } from "#site/renderer/renderer.ts";
import { compiledSites } from "./processes.ts";
import { aNonprofit, anEin } from "./records.ts";
import { openBlankStore } from "#test/support/blank-store.ts";

let opened: Promise<Renderer> | undefined;

/** The real site, compiled once per change of its sources and opened once per test run. */
export const aRenderer = (): Promise<Renderer> =>
  (opened ??= compileSite(compiledSites).then(({ folder }) => openRenderer(folder)));

/** The text of a file; none for a path that must not exist. */
export const textOf = (body: string | Uint8Array | null): string =>
  body instanceof Uint8Array ? new TextDecoder().decode(body) : (body ?? "");

export const siteBaseUrl = "https://almoner.example";

export type TestSite = Awaited<ReturnType<typeof aSite>>;

/** A store of its own with these nonprofits, and the real documents over it; nothing is published. */
export async function aSite(
  nonprofits: Partial<NonprofitRecord>[] = [],
  { network = "local" }: { network?: DonationNetwork } = {},
) {
  const folder = aFolder();
  const store = await openBlankStore(`file:${folder("store.db")}`);
  const lists = openListIndex(store);
  const source = { store, lists, renderer: await aRenderer(), baseUrl: siteBaseUrl, network };
  /** The files of one document: path and text, null for a path that must not exist. */
  const files = async (key: DocumentKey): Promise<Record<string, string | null>> => {
    const kind = documentKinds.find((one) => one.kind === partsOf(key)[0]);
    const isSample = await holdsSample(store);
    const rendered = (await kind?.render([key], { ...source, isSample })) ?? [];
    return Object.fromEntries(
      rendered.map(({ path, body }) => [path, body === null ? null : textOf(body)]),
    );
  };
  const close = () => {
    store.close();
    folder.close();
  };
  const site = {
    ...source,
    files,
    /** Saves nonprofits as they shall be; `before` are those they replace. */
    save: (after: NonprofitRecord[], before: NonprofitRecord[] = []) => {
      const saves = after.map((one, at) => ({ before: before[at] ?? null, after: one }));
      const now = new Date("2026-11-01T12:00:00Z");
      return store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now }));
    },
    /** The first page of a document, or the one in this folder, as a browser would read it. */
    page: async (key: DocumentKey, under = "") => {
      const [, html] =
        Object.entries(await files(key)).find(
          ([path]) => path.startsWith(under) && path.endsWith(".html"),
        ) ?? [];
      if (typeof html !== "string") throw new Error(`${key} has no page`);
      return { html, $: load(html) };
    },
    close,
    [Symbol.dispose]: close,
  };
  if (nonprofits.length > 0) await site.save(nonprofits.map((parts) => aNonprofit(parts)));
  return site;
}

export const theSite = forFile(aSite);

/** A profile with something in every place. */
export const aRichNonprofit = (parts: Partial<NonprofitRecord> = {}): NonprofitRecord => {
  const source_url = "https://register.example/entry";
  const from = (
    set_by: "register" | "consensus" | "organisation",
    source: string,
    agents: string[] = [],
  ) => sourceFrom(set_by, Date.parse("2026-10-01T00:00:00Z"), { source, source_url, agents });
  return aNonprofit({
    slug: "lantern-school",
    name: "Lantern School",
    tagline: "Evening classes for working children",
    mission: "We teach children who work by day.",
    description: "Founded by two teachers.\n\nToday there are nine classes.",
    region: "Nyanza",
    city: "Kisumu",
    website: "https://www.lantern-school.example/",
    donation_url: "https://lantern-school.example/give",
    usdc_wallet: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
    contact_email: "desk@lantern-school.example",
    beneficiaries_per_year: 12_345,
    founded_year: 1998,
    annual_budget_usd: 250_000,
    team_size: 1,
    verified: 1,
    status: "claimed",
    causes: ["education", "youth-empowerment"],
    programs: [
      {
        name: "Night classes",
        description: "Five evenings a week",
        beneficiaries_per_year: 300,
        location: "Kisumu",
      },
    ],
    impact_metrics: [{ name: "Pupils", value: "1200", unit: "children", period: "annual" }],
    registrations: [anEin("530196605")],
    provenance: {
      name: from("register", "irs-bmf"),
      city: from("register", "irs-bmf"),
      website: from("consensus", "consensus", ["scout", "lamp"]),
      donation_url: from("organisation", "organisation"),
    },
    ...parts,
  });
};
