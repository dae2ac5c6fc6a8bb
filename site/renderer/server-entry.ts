import { addressOf } from "#content/contract/base/request.ts";
import { createApp } from "astro/app/entrypoint";

// Pages are written as a whole, so there is nothing to stream.
export const app = createApp({ streaming: false });

// Astro would return an error page, but a page that cannot be rendered must never be published. The caller of `render`
// reports the message, so Astro does not log it too.
app.logger.options.level = "silent";
app.renderError = (request, { error, status }) => {
  const { path: pathname } = addressOf(request);
  const reason = error instanceof Error ? error.message : `it was answered with ${status}`;
  return Promise.reject(new Error(`${pathname} cannot be rendered: ${reason}`, { cause: error }));
};
