import guide from "#content/editorial/guides/verify-receipt.md?raw";
import { endpoint, filled } from "#site/documents/endpoint.ts";

/** How to check a receipt with nothing but the receipt and the directory's key. */
export const GET = endpoint<"/verify-receipt.md">(({ baseUrl }) =>
  filled(guide, { base_url: baseUrl }),
);
