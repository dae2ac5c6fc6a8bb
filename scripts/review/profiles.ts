import { positional, textOption, wordedCommand } from "../support/command.ts";
import { profileOperations as operations } from "#content/contract/operations/profile-change.ts";
import { ProfileEdit } from "#content/contract/profile-change.ts";
import { stopWith } from "../support/config.ts";
import { change, json, neededOption, operator, reasonOf } from "../support/operator-api.ts";

const withdraw = wordedCommand("review profile withdraw", {
  args: { slug: positional, reason: textOption, operator, json },
  run: async ({ args }) => {
    const asked = { params: { slug: args.slug }, body: { reason: reasonOf(args.reason) } };
    await change(args, args.slug, operations.withdrawProfile, asked);
  },
});

const restore = wordedCommand("review profile restore", {
  args: { slug: positional, reason: textOption, operator, json },
  run: async ({ args }) => {
    const asked = { params: { slug: args.slug }, body: { reason: reasonOf(args.reason) } };
    await change(args, args.slug, operations.restoreProfile, asked);
  },
});

const fields = ProfileEdit.shape.values.shape;

const edit = wordedCommand("review profile edit", {
  args: {
    slug: positional,
    field: { type: "string", description: `One of ${Object.keys(fields).join(", ")} (required)` },
    value: textOption,
    reason: textOption,
    operator,
    json,
  },
  run: async ({ args }) => {
    const field = neededOption("field", args.field, "give the field to set.");
    if (!(field in fields)) stopWith(`--field: give one of ${Object.keys(fields).join(", ")}.`, 2);
    const values = { [field]: args.value === undefined ? null : valueOf(field, args.value) };
    const asked = { params: { slug: args.slug }, body: { reason: reasonOf(args.reason), values } };
    await change(args, args.slug, operations.editProfile, asked);
  },
});

/** A text as it is, where the field takes one; else the number or the list in it. */
function valueOf(field: string, text: string): unknown {
  const shape = fields[field as keyof typeof fields];
  if (shape.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const merge = wordedCommand("review profile merge", {
  args: {
    slug: positional,
    into: textOption,
    reason: textOption,
    operator,
    json,
  },
  run: async ({ args }) => {
    const into = neededOption("into", args.into, "give the slug of the profile that stays.");
    const body = { reason: reasonOf(args.reason), into };
    const asked = { params: { slug: args.slug }, body };
    await change(args, args.slug, operations.mergeProfile, asked);
  },
});

export const profile = wordedCommand("review profile", {
  subCommands: { withdraw, restore, edit, merge },
});
