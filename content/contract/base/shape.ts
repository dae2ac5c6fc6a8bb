import { z } from "zod";

/** An object that has a name of its own in the description of the API. */
export const named = <Members extends z.core.$ZodLooseShape>(
  id: string,
  members: Members,
  meta: { examples?: unknown[] } = {},
) => z.object(members).meta({ id, ...meta });
