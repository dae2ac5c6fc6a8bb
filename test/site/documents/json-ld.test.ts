import { describe, expect, test } from "bun:test";
import ts from "typescript";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { aRichNonprofit, theSite, siteBaseUrl } from "#test/support/compiled-site.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const site = await theSite();
const org_id = "US-EIN-530196606";
const facts = { subsection: "03", ruling: "1994-07", tax_period: "2024-12", income: 3_312_400 };
await site.save([
  aRichNonprofit({
    register_records: [
      aRegisterRecord({ org_id, facts }),
      aRegisterRecord({ org_id, register: "irs-pub78", facts: { deductibility: "PC" } }),
    ],
  }),
  aNonprofit({ name: "Bare", causes: [], country_code: null }),
]);

const jsonLdIn = async (key: string): Promise<string> =>
  (await site.page(key)).$('script[type="application/ld+json"]').text();

type Processor = { default: { expand(input: unknown, options: object): Promise<object[]> } };

describe.skipIf(!clientsInstalled)("JSON-LD", () => {
  test("is read by a processor, which drops no property", async () => {
    const path = clientFile("node_modules/jsonld/lib/index.js");
    const { default: processor } = (await import(path)) as Processor;
    const document = { "@context": { "@vocab": "https://schema.org/" } };
    const documentLoader = (documentUrl: string) => ({ contextUrl: null, documentUrl, document });
    const input: unknown = JSON.parse(await jsonLdIn("profile 1"));
    const expanded = await processor.expand(input, { documentLoader, safe: true });
    expect(expanded).toMatchObject([
      {
        "@type": ["https://schema.org/NGO"],
        "https://schema.org/knowsAbout": [
          { "@value": "Education" },
          { "@value": "Youth Empowerment" },
        ],
        "https://schema.org/numberOfEmployees": [{ "https://schema.org/value": [{ "@value": 1 }] }],
        "https://schema.org/sameAs": [
          { "@value": "https://apps.irs.gov/app/eos/detailsPage?ein=530196606" },
        ],
      },
    ]);
  });

  test("has countries by their codes, and lists what a list lists", async () => {
    expect(JSON.parse(await jsonLdIn("profile 1")).address).toMatchObject({ addressCountry: "KE" });
    const list = await jsonLdIn("list-page cause:education 1");
    expect(JSON.parse(list)).toMatchObject({
      "@type": "CollectionPage",
      mainEntity: {
        "@type": "ItemList",
        numberOfItems: 1,
        itemListElement: [{ position: 1, url: expect.stringContaining("/nonprofits/") }],
      },
    });
    for (const [key, url] of [
      ["page causes", "/causes/education"],
      ["page countries", "/countries/ke"],
    ] as const) {
      const { mainEntity } = JSON.parse(await jsonLdIn(key));
      const urls = mainEntity.itemListElement.map((item: { url: string }) => item.url);
      expect(urls).toContain(siteBaseUrl + url);
      expect(mainEntity.numberOfItems).toBe(urls.length);
    }
  });

  test("has the types of schema.org", async () => {
    const wrong = { "@context": "https://schema.org", "@type": "NGO", additionalProperty: [] };
    const keys = ["profile 1", "profile 2", "list-page cause:education 1"];
    const objects = (await Promise.all(keys.map(jsonLdIn))).map((text) => JSON.parse(text));
    const faults = faultsOf([...objects, wrong]);
    expect(faults).toEqual([expect.stringContaining('"additionalProperty": []')]);
  });
});

/**
 * The lines that the compiler refuses of a program in which each object, those within others too, is of its type of
 * schema.org. Within another it would be compared with a thousand types, for seconds.
 */
function faultsOf(objects: readonly unknown[]): string[] {
  const path = clientFile("profile.ts");
  const types = new Set(["WithContext"]);
  const lines: string[] = [];
  const written = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(written).join()}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${written(member)}`,
    );
    const object = `{ ${members.join()} }`;
    if (!("@type" in value)) return object;
    const type = String(value["@type"]);
    types.add(type);
    const declared = "@context" in value ? `WithContext<${type}>` : type;
    const name = `ld${lines.length}`;
    lines.push(`export const ${name}: ${declared} = ${object};`);
    return name;
  };
  objects.forEach(written);
  const program = [`import type { ${[...types].join()} } from "schema-dts";`, ...lines].join("\n");
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ["lib.es5.d.ts"],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const files = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...files,
    fileExists: (name) => name === path || files.fileExists(name),
    getSourceFile: (name, version) =>
      name === path
        ? ts.createSourceFile(name, program, version)
        : files.getSourceFile(name, version),
  };
  const compiled = ts.createProgram([path], options, host);
  return compiled
    .getSemanticDiagnostics(compiled.getSourceFile(path))
    .map(
      ({ start = 0 }) => program.split("\n")[program.slice(0, start).split("\n").length - 1] ?? "",
    );
}
