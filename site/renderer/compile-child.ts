import { join, relative } from "node:path";
import { build } from "astro";

// Run by compile.ts in a process of its own: bun compile-child.ts <work folder>. The result is <work folder>/out.
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

// The donation button runs on the pages of others: one plain script under a name that never changes.
await Bun.build({
  entrypoints: [join(checkout, "site/browser/widget/donate-button.ts")],
  outdir: join(workFolder, "out", "client", "widget"),
  naming: "donate.js",
  target: "browser",
  format: "iife",
  minify: true,
});
