import type { z } from "zod";
import type { Refusal } from "./operation.ts";

/** An operation that changes what its body says, as most do that change anything: `said` is what its answer says. */
export const change = <
  const Path extends string,
  Body extends z.ZodObject,
  Answer extends z.ZodObject,
>(
  { path }: { path: Path },
  body: Body,
  [description, shape]: readonly [string, Answer],
  refusals: readonly Refusal[] = [],
) =>
  ({ method: "post", path, body: { shape: body }, ok: { description, shape }, refusals }) as const;
