import type { AstroIntegration } from "astro";

const name = "almoner-renderer";

/** The adapter that compiles the site into one module, which site/renderer/renderer.ts imports. */
export const compiledRenderer = (): AstroIntegration => ({
  name,
  hooks: {
    "astro:config:done": ({ setAdapter }) => {
      setAdapter({
        name,
        entrypointResolution: "auto",
        serverEntrypoint: new URL("./server-entry.ts", import.meta.url),
        supportedAstroFeatures: { serverOutput: "stable", staticOutput: "unsupported" },
      });
    },
  },
});
