import { addresses } from "#content/contract/addresses.ts";
import { CorrectionAnswer, CorrectionBody, CorrectionStatus } from "../correction.ts";
import { operations } from "./operation.ts";

/** How anyone says that a profile is wrong. */
export const correctionOperations = operations("Enrichment", {
  correctNonprofit: {
    method: "post",
    path: addresses.correct.path,
    headers: ["IdempotencyKey"],
    body: { shape: CorrectionBody },
    ok: { description: "It waits for an operator", shape: CorrectionAnswer },
    refusals: [403, 404, 409, 410],
  },
  getCorrectionStatus: {
    path: addresses.correctionStatusJson.path,
    fresh: true,
    secret: true,
    ok: { description: "Status of the correction", shape: CorrectionStatus },
    refusals: [404],
  },
});
