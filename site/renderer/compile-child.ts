import { join, relative } from "node:path";
import { build } from "astro";
import { languages, translations } from "#content/language/languages.ts";
import { english, type Texts } from "#content/language/texts.ts";
import { networks } from "#content/giving/network.ts";

// compile.ts runs this in a child process: bun compile-child.ts <work folder>. The result is <work folder>/out.
const [workFolder] = process.argv.slice(2);
if (workFolder === undefined) throw new Error("usage: compile-child.ts <work folder>");
const checkout = join(import.meta.dirname, "..", "..");

await build({
  root: workFolder,
  configFile: relative(workFolder, join(checkout, "astro.config.mjs")),
  srcDir: join(checkout, "site"),
  publicDir: join(checkout, "site", "public"),
  outDir: join(workFolder, "out"),
  cacheDir: join(workFolder, "cache"),
  vite: { cacheDir: join(workFolder, "vite") },
  logLevel: "warn",
});

// The donation button runs on other sites: one plain script under a fixed name, in English; it fetches texts of other
// languages when a dialog opens.
const widgetFolder = join(workFolder, "out", "client", "widget");
const labels = Object.fromEntries(
  [...languages].map(([code, t]) => [code, t.text("widget.donate")]),
);
await Bun.build({
  entrypoints: [join(checkout, "site/browser/widget/donate-button.ts")],
  outdir: widgetFolder,
  naming: "donate.js",
  target: "browser",
  format: "iife",
  minify: true,
  define: {
    WIDGET_TEXTS: widgetTexts(english),
    WIDGET_LABELS: JSON.stringify(labels),
  },
});
for (const t of translations) {
  await Bun.write(join(widgetFolder, `${t.language}.json`), widgetTexts(t));
}

/** The texts of the button, including those on each network. */
function widgetTexts(t: Texts): string {
  const names = Object.values(networks).flatMap(({ cluster, words }) => [
    [`name_${cluster}`, t.word(words.name)],
    [`notice_${cluster}`, words.notice === null ? "" : t.word(words.notice)],
  ]);
  return JSON.stringify({
    ...JSON.parse(t.forScript("pay", "widget")),
    ...Object.fromEntries(names),
  });
}
