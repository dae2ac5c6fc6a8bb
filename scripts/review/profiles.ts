import { defineCommand } from "citty";
import { profileOperations as operations } from "#content/contract/operations/profile-change.ts";
import { ProfileEdit } from "#content/contract/profile-change.ts";
import { stopWith } from "../support/config.ts";
import {
  change,
  json,
  neededOption,
  operator,
  reason,
  reasonOf,
  slugArgument,
} from "../support/operator-api.ts";

const withdraw = defineCommand({
  meta: { name: "withdraw", description: "Takes a profile out of all lists; its address stays" },
  args: { slug: slugArgument, reason, operator, json },
  run: async ({ args }) => {
    const asked = { params: { slug: args.slug }, body: { reason: reasonOf(args.reason) } };
    await change(args, args.slug, operations.withdrawProfile, asked);
  },
});

const restore = defineCommand({
  meta: {
    name: "restore",
    description: "Brings a withdrawn profile back, whether an operator or a register withdrew it",
  },
  args: { slug: slugArgument, reason, operator, json },
  run: async ({ args }) => {
    const asked = { params: { slug: args.slug }, body: { reason: reasonOf(args.reason) } };
    await change(args, args.slug, operations.restoreProfile, asked);
  },
});

const fields = ProfileEdit.shape.values.shape;

const edit = defineCommand({
  meta: { name: "edit", description: "Sets or empties one field of a profile" },
  args: {
    slug: slugArgument,
    field: { type: "string", description: `One of ${Object.keys(fields).join(", ")} (required)` },
    value: {
      type: "string",
      description: "The value; lists as JSON. Without it the field is emptied",
    },
    reason,
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

const merge = defineCommand({
  meta: {
    name: "merge",
    description: "Withdraws a profile in favour of another, which gets what it lacks",
  },
  args: {
    slug: slugArgument,
    into: { type: "string", description: "Slug of the profile that stays (required)" },
    reason,
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

export const profile = defineCommand({
  meta: { name: "profile", description: "Withdraws, restores, edits and merges profiles" },
  subCommands: { withdraw, restore, edit, merge },
});
