import { defineCommand } from "citty";
import { CauseId } from "#content/contract/cause.ts";
import { PickChange, type PickItem, PickList } from "#content/contract/recommendation.ts";
import { stopWith } from "../support/config.ts";
import {
  defaultOperator,
  json,
  limitOf,
  operator,
  type OperatorCall,
  type Output,
  showOutcome,
  valueOf,
  withOperatorApi,
} from "../support/operator-api.ts";

const slugArgument = {
  type: "positional",
  required: true,
  description: "Slug of the nonprofit",
} as const;
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
    limit: { type: "string", default: "50", description: "How many to show (up to 200)" },
    after: { type: "string", description: "Goes on after this slug" },
    json,
  },
  run: ({ args }) => listPicks(args),
});

const add = defineCommand({
  meta: { name: "add", description: "Recommends a nonprofit" },
  args: { slug: slugArgument, ...words, operator, json },
  run: ({ args }) => addPick(args),
});

const edit = defineCommand({
  meta: {
    name: "edit",
    description:
      "Changes what is said of a recommended nonprofit; what you leave out stays as it is",
  },
  args: { slug: slugArgument, ...words, operator, json },
  run: ({ args }) => editPick(args),
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
  run: ({ args }) => removePick(args),
});

/** `bun run review pick`: what is recommended. */
export const pick = defineCommand({
  meta: { name: "pick", description: "Lists, adds, edits and removes recommended nonprofits" },
  subCommands: { list, add, edit, remove },
});

type Words = {
  slug: string;
  for?: string | undefined;
  why?: string | undefined;
  causes?: string | undefined;
  operator: string;
} & Output;

async function listPicks(args: { limit: string; after?: string | undefined } & Output) {
  const query = { limit: limitOf(args.limit), after: args.after };
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const found = valueOf(await call({ path: "/api/admin/picks", query }, PickList));
    if (args.json === true) {
      console.log(JSON.stringify(found));
      return;
    }
    for (const one of found.picks) console.log(printed(one));
    if (found.count === 0) console.log("The store has no recommendations.");
    for (const slug of found.in_file) console.log(`${slug}  (content/editorial/starter-set.json)`);
    if (found.next !== null) console.log(`More: --after ${found.next}`);
  });
}

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = ({ slug, origin, added_by, recommended_for, why_recommended }: PickItem): string =>
  [
    `${slug}  by ${origin}${added_by === "" ? "" : ` (${JSON.stringify(added_by)})`}`,
    ...recommended_for.map((intent) => `  for ${JSON.stringify(intent)}`),
    `  ${JSON.stringify(why_recommended)}`,
    "",
  ].join("\n");

async function addPick(args: Words) {
  const { recommended_for = [], why_recommended = "", causes } = wordsOf(args);
  if (recommended_for.length === 0) stopWith("--for: give the donor intents.", 2);
  if (why_recommended === "") stopWith("--why: give one to three sentences.", 2);
  const body = { slug: args.slug, recommended_for, why_recommended, causes };
  await change(args, { path: "/api/admin/picks", body });
}

async function editPick(args: Words) {
  const body = wordsOf(args);
  if (Object.values(body).every((one) => one === undefined)) {
    stopWith("Give at least one of --for, --why and --causes.", 2);
  }
  await change(args, { path: `/api/admin/picks/${encodeURIComponent(args.slug)}`, body });
}

async function removePick(
  args: { slug: string; reason?: string | undefined; operator: string } & Output,
) {
  const reason = args.reason?.trim() ?? "";
  if (reason === "") stopWith("--reason: say why, for the audit log.", 2);
  const path = `/api/admin/picks/${encodeURIComponent(args.slug)}/remove`;
  await change(args, { path, body: { reason } });
}

async function change(args: { slug: string; operator: string } & Output, request: OperatorCall) {
  await withOperatorApi(args.operator, async ({ call }) => {
    const outcome = await call({ method: "POST", ...request }, PickChange);
    showOutcome(args, args.slug, outcome, ({ message }) => `${args.slug}: ${message}`);
  });
}

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
