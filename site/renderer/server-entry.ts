import { addressOf } from "#content/contract/base/request-address.ts";
import { createApp } from "astro/app/entrypoint";

// Pages are written whole, so there is nothing to stream.
export const app = createApp({ streaming: false });

// Astro would answer with an error page; a page that cannot be rendered must never be published. Its message is told
// by anyone who asked for the page, so it is not told here as well.
app.logger.options.level = "silent";
app.renderError = (request, { error, status }) => {
  const { path: pathname } = addressOf(request);
  const reason = error instanceof Error ? error.message : `it was answered with ${status}`;
  return Promise.reject(new Error(`${pathname} cannot be rendered: ${reason}`, { cause: error }));
};
