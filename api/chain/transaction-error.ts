import { z } from "zod";

/** Why a transaction fails: null for one that does not. A node that leaves it out has not said that nothing failed. */
export const TransactionError = z.union([z.null(), z.string(), z.looseObject({})]);
