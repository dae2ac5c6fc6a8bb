import guide from "#content/editorial/guides/verify-receipt.md?raw";
import { guideEndpoint } from "#site/documents/endpoint.ts";

/** How to check a receipt with nothing but the receipt and the directory's key. */
export const GET = guideEndpoint(guide);
