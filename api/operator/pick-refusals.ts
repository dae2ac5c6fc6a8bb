import type { PickFailure } from "./picks.ts";
import type { FailureTable } from "#api/http/problem.ts";

/** Why a recommendation was not added, edited or removed, for all faces of the operator's verbs. */
export const pickRefusals = {
  nonprofit_not_found: { status: 404, detail: "No nonprofit has this slug." },
  nonprofit_withdrawn: {
    status: 410,
    detail: "This nonprofit is withdrawn from its register: it cannot be recommended.",
  },
  pick_not_found: { status: 404, detail: "This nonprofit is not recommended." },
  pick_exists: {
    status: 409,
    detail: "This nonprofit is recommended already: edit what is said of it.",
  },
  pick_in_file: {
    status: 409,
    detail:
      "content/editorial/starter-set.json holds this nonprofit, and what it says wins: edit it there.",
  },
  invalid_pick: ({ errors }) => ({
    status: 400,
    detail: errors
      .map(({ path, message }) => `${path}: ${message}`)
      .join(" ")
      .slice(0, 1_000),
    errors: errors.map(({ path, message }) => ({ path, message })),
  }),
} as const satisfies FailureTable<PickFailure>;
