import { addresses } from "#content/contract/addresses.ts";
import { CorrectionAnswer, CorrectionBody, CorrectionStatus } from "../correction.ts";
import { operations } from "./operation.ts";

/** How anyone says that a profile is wrong. */
export const correctionOperations = operations("Enrichment", {
  correctNonprofit: {
    method: "post",
    path: addresses.correct.path,
    summary: "Say that a value of a profile is wrong",
    description:
      "For live values, which enrichment never overwrites. An operator decides: sets the right value, or rejects it with a reason. Nothing of it is public before, and of an accepted one only the value. `status_url` shows what became of it. At most 20 corrections of a profile wait, 5 from one network, and 50 of one network in all. Forms of browsers are taken, too.",
    headers: ["IdempotencyKey"],
    body: { shape: CorrectionBody },
    ok: { description: "It waits for an operator", shape: CorrectionAnswer },
    refusals: [403, 404, 409, 410],
  },
  getCorrectionStatus: {
    path: addresses.correctionStatusJson.path,
    summary: "Get the status of a correction",
    description:
      "Send what follows # in the `status_url` of the answer to POST /api/corrections/{slug} as `Authorization: Bearer …`. Anyone with the link can read this: keep it private.",
    fresh: true,
    secret: true,
    ok: { description: "Status of the correction", shape: CorrectionStatus },
    refusals: [404],
  },
});
