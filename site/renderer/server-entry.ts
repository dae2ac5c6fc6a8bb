import { createApp } from "astro/app/entrypoint";

// Pages are written whole, so there is nothing to stream.
export const app = createApp({ streaming: false });

// Astro would answer with an error page; a page that cannot be rendered must never be published.
app.renderError = (request, { error, status }) =>
  Promise.reject(new Error(`${request.url} was answered with ${status}`, { cause: error }));
