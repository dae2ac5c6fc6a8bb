import { defineCommand } from "citty";
import { added, edited, picked, removed } from "./picks.ts";

const json = { type: "boolean", description: "Answer as JSON on standard output" } as const;
const operator = {
  type: "string",
  default: "operator",
  description: "Who decides, for the audit log",
} as const;
const slug = {
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
    limit: { type: "string", default: "50", description: "At most so many (up to 200)" },
    after: { type: "string", description: "Goes on after this slug" },
    json,
  },
  run: ({ args }) => picked(args),
});

const add = defineCommand({
  meta: { name: "add", description: "Recommends a nonprofit" },
  args: { slug, ...words, operator, json },
  run: ({ args }) => added(args),
});

const edit = defineCommand({
  meta: {
    name: "edit",
    description: "Changes what is said of a recommended nonprofit; what is not given stays",
  },
  args: { slug, ...words, operator, json },
  run: ({ args }) => edited(args),
});

const remove = defineCommand({
  meta: {
    name: "remove",
    description: "Stops recommending a nonprofit; agents' agreement alone cannot bring it back",
  },
  args: { slug, reason: { type: "string", description: "Why (required)" }, operator, json },
  run: ({ args }) => removed(args),
});

/** `bun run review pick`: what is recommended. */
export const pick = defineCommand({
  meta: { name: "pick", description: "Lists, adds, edits and removes recommended nonprofits" },
  subCommands: { list, add, edit, remove },
});
