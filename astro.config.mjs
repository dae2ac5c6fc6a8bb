import { compiledRenderer } from "./site/renderer/adapter.ts";

/**
 * `astro check` and editors read this file too. Where the output goes is handed in by site/renderer/compile.ts.
 * @type {import("astro").AstroUserConfig}
 */
export default {
  srcDir: "./site",
  publicDir: "./site/public",
  output: "server",
  adapter: compiledRenderer(),
  trailingSlash: "never",
  build: { inlineStylesheets: "never" },
  image: { service: { entrypoint: "astro/assets/services/noop" } },
  devToolbar: { enabled: false },
  // No one sends requests to these pages: they are written into files.
  security: { checkOrigin: false },
  // The compiled site may lie where no node_modules can be found.
  vite: {
    ssr: { noExternal: true },
    // The policy of pages allows no script inside them.
    build: { assetsInlineLimit: 0 },
    worker: { format: "es" },
  },
};
