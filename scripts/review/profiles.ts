import { textOption, wordedCommand } from "../support/command.ts";
import { profileOperations as operations } from "#content/contract/operations/operator.ts";
import { ProfileEdit } from "#content/contract/profile-change.ts";
import { stopWith } from "../support/config.ts";
import { neededOption, reasoned } from "../support/operator-api.ts";

const withdraw = reasoned("review profile withdraw", operations.withdrawProfile);
const restore = reasoned("review profile restore", operations.restoreProfile);

const fields = ProfileEdit.shape.values.shape;

const names = Object.keys(fields).join(", ");

const edit = reasoned(
  "review profile edit",
  operations.editProfile,
  { field: { type: "string", description: `One of ${names} (required)` }, value: textOption },
  ({ field: given, value }) => {
    const name = neededOption("field", given, "give the field to set.");
    if (!(name in fields)) stopWith(`--field: give one of ${names}.`, 2);
    return { values: { [name]: value === undefined ? null : valueOf(name, value) } };
  },
);

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

const merge = reasoned(
  "review profile merge",
  operations.mergeProfile,
  { into: textOption },
  ({ into }) => ({ into: neededOption("into", into, "give the slug of the profile that stays.") }),
);

export const profile = wordedCommand("review profile", {
  subCommands: { withdraw, restore, edit, merge },
});
