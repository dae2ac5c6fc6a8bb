import { positional, textOption, wordedCommand } from "../support/command.ts";
import { CauseId } from "#content/contract/browse.ts";
import { pickOperations as operations } from "#content/contract/operations/recommendation.ts";
import type { PickItem } from "#content/contract/recommendation.ts";
import { stopWith } from "../support/config.ts";
import {
  change,
  json,
  limitOf,
  operator,
  pageLimit,
  reasoned,
  show,
} from "../support/operator-api.ts";

const words = {
  for: textOption,
  why: textOption,
  causes: textOption,
} as const;

const list = wordedCommand("review pick list", {
  args: {
    limit: pageLimit,
    after: textOption,
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

const add = wordedCommand("review pick add", {
  args: { slug: positional, ...words, operator, json },
  run: async ({ args }) => {
    const { recommended_for = [], why_recommended = "", causes } = wordsOf(args);
    if (recommended_for.length === 0) stopWith("--for: give the donor intents.", 2);
    if (why_recommended === "") stopWith("--why: give one to three sentences.", 2);
    const body = { slug: args.slug, recommended_for, why_recommended, causes };
    await change(args, args.slug, operations.addPick, { body });
  },
});

const edit = wordedCommand("review pick edit", {
  args: { slug: positional, ...words, operator, json },
  run: async ({ args }) => {
    const body = wordsOf(args);
    if (Object.values(body).every((value) => value === undefined)) {
      stopWith("Give at least one of --for, --why and --causes.", 2);
    }
    const call = { params: { slug: args.slug }, body };
    await change(args, args.slug, operations.editPick, call);
  },
});

const remove = reasoned("review pick remove", operations.removePick);

export const pick = wordedCommand("review pick", {
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
    recommended_for: intents?.split(";").flatMap((phrase) => phrase.trim() || []),
    why_recommended: why?.trim(),
    causes: causes === undefined ? undefined : causesOf(causes),
  };
}

function causesOf(text: string): CauseId[] | null {
  if (text.trim() === "all") return null;
  return text.split(",").map((cause) => {
    const read = CauseId.safeParse(cause.trim());
    return read.success
      ? read.data
      : stopWith(`--causes: there is no cause ${JSON.stringify(cause)}.`, 2);
  });
}
