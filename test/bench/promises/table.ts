import { z } from "zod";
import rows from "./promises.json";

/** A test file, or some tests of it by a part of their names, or a bench; `args` of a bench run it with full counts. */
const Proof = z.union([
  z.strictObject({ test: z.string(), name: z.string().optional() }),
  z.strictObject({ bench: z.string(), args: z.array(z.string()), quick: z.array(z.string()) }),
]);
export type Proof = z.infer<typeof Proof>;

/** What the system keeps under load, faults and hostile input: a claim, its figure, and what proves it. */
const KeptPromise = z.strictObject({
  number: z.int(),
  claim: z.string(),
  asked: z.string(),
  proofs: z.array(Proof),
});
export type KeptPromise = z.infer<typeof KeptPromise>;

export const promises: readonly KeptPromise[] = z.array(KeptPromise).parse(rows);
