import { defineCommand } from "citty";
import { CauseId } from "#content/contract/cause.ts";
import { pickOperations as operations } from "#content/contract/operations/recommendation.ts";
import type { PickItem } from "#content/contract/recommendation.ts";
import { stopWith } from "../support/config.ts";
import {
  change,
  json,
  limitOf,
  operator,
  pageLimit,
  reasonOf,
  show,
  slugArgument,
} from "../support/operator-api.ts";

const words = {
  for: {
    type: "string",
    description: 'Donor intents, with semicolons between: "donors interested in wells; …"',
  },
  why: { type: "string", description: "One to three restrained sentences" },
  causes: {
    type: "string",
    description: "Cause ids with commas between; `all` for all causes of the profile (the default)",
  },
} as const;

const list = defineCommand({
  meta: { name: "list", description: "Shows what is recommended, by slug" },
  args: {
    limit: pageLimit,
    after: { type: "string", description: "Goes on after this slug" },
    json,
  },
  run: async ({ args }) => {
    const query = { limit: limitOf(args.limit), after: args.after };
    await show(args, operations.listPicks, { query }, ({ picks, in_file, next }) => [
      ...(picks.length === 0 ? ["The store has no recommendations."] : picks.map(printed)),
      ...in_file.map((slug) => `${slug}  (content/editorial/starter-set.json)`),
      ...(next === null ? [] : [`More: --after ${next}`]),
    ]);
  },
});

const add = defineCommand({
  meta: { name: "add", description: "Recommends a nonprofit" },
  args: { slug: slugArgument, ...words, operator, json },
  run: async ({ args }) => {
    const { recommended_for = [], why_recommended = "", causes } = wordsOf(args);
    if (recommended_for.length === 0) stopWith("--for: give the donor intents.", 2);
    if (why_recommended === "") stopWith("--why: give one to three sentences.", 2);
    const body = { slug: args.slug, recommended_for, why_recommended, causes };
    await change(args, args.slug, operations.addPick, { body });
  },
});

const edit = defineCommand({
  meta: {
    name: "edit",
    description:
      "Changes what is said of a recommended nonprofit; what you leave out stays as it is",
  },
  args: { slug: slugArgument, ...words, operator, json },
  run: async ({ args }) => {
    const body = wordsOf(args);
    if (Object.values(body).every((one) => one === undefined)) {
      stopWith("Give at least one of --for, --why and --causes.", 2);
    }
    const asked = { params: { slug: args.slug }, body };
    await change(args, args.slug, operations.editPick, asked);
  },
});

const remove = defineCommand({
  meta: {
    name: "remove",
    description: "Stops recommending a nonprofit; agents cannot restore it by agreement",
  },
  args: {
    slug: slugArgument,
    reason: { type: "string", description: "Why (required)" },
    operator,
    json,
  },
  run: async ({ args }) => {
    const asked = { params: { slug: args.slug }, body: { reason: reasonOf(args.reason) } };
    await change(args, args.slug, operations.removePick, asked);
  },
});

export const pick = defineCommand({
  meta: { name: "pick", description: "Lists, adds, edits and removes recommended nonprofits" },
  subCommands: { list, add, edit, remove },
});

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = ({ slug, origin, added_by, recommended_for, why_recommended }: PickItem): string =>
  [
    `${slug}  by ${origin}${added_by === "" ? "" : ` (${JSON.stringify(added_by)})`}`,
    ...recommended_for.map((intent) => `  for ${JSON.stringify(intent)}`),
    `  ${JSON.stringify(why_recommended)}`,
    "",
  ].join("\n");

type Words = { for?: string | undefined; why?: string | undefined; causes?: string | undefined };

function wordsOf({ for: intents, why, causes }: Words) {
  return {
    recommended_for: intents?.split(";").flatMap((one) => one.trim() || []),
    why_recommended: why?.trim(),
    causes: causes === undefined ? undefined : causesOf(causes),
  };
}

function causesOf(text: string): CauseId[] | null {
  if (text.trim() === "all") return null;
  return text.split(",").map((one) => {
    const read = CauseId.safeParse(one.trim());
    return read.success
      ? read.data
      : stopWith(`--causes: there is no cause ${JSON.stringify(one)}.`, 2);
  });
}
