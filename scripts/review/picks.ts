import { pickOperations as operations } from "#content/contract/operations/recommendation.ts";
import type { PickItem } from "#content/contract/recommendation.ts";
import { positional, wordedCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import { operated } from "./operated.ts";

const list = operated("review pick list", operations.listPicks, {
  linesOf: ({ picks, in_file, next }) => [
    ...(picks.length === 0 ? ["The store has no recommendations."] : picks.map(printed)),
    ...in_file.map((slug) => `${slug}  (content/editorial/starter-set.json)`),
    ...(next === null ? [] : [`More: --after ${next}`]),
  ],
});

const add = operated("review pick add", operations.addPick, { args: { slug: positional } });

const edit = operated("review pick edit", operations.editPick, {
  bodyOf: ({ for: intents, why, causes }) =>
    [intents, why, causes].every((option) => option === undefined)
      ? stopWith("Give at least one of --for, --why and --causes.", 2)
      : {},
});

const remove = operated("review pick remove", operations.removePick);

export const pick = wordedCommand("review pick", { subCommands: { list, add, edit, remove } });

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = ({ slug, origin, added_by, recommended_for, why_recommended }: PickItem): string =>
  [
    `${slug}  by ${origin}${added_by === "" ? "" : ` (${JSON.stringify(added_by)})`}`,
    ...recommended_for.map((intent) => `  for ${JSON.stringify(intent)}`),
    `  ${JSON.stringify(why_recommended)}`,
    "",
  ].join("\n");
