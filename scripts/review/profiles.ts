import { profileOperations as operations } from "#content/contract/operations/operator.ts";
import { ProfileEdit } from "#content/contract/profile-change.ts";
import { textOption, wordedCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import { operated } from "./operated.ts";

const fields = ProfileEdit.shape.values.shape;
const names = Object.keys(fields).join(", ");

const edit = operated("review profile edit", operations.editProfile, {
  args: {
    field: { type: "string", description: `One of ${names} (required)` },
    value: textOption,
  },
  bodyOf: ({ field, value }) => {
    const name = String(field).trim();
    if (!(name in fields)) stopWith(`--field: give one of ${names}.`, 2);
    return { values: { [name]: value === undefined ? null : valueOf(name, String(value)) } };
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

export const profile = wordedCommand("review profile", {
  subCommands: {
    withdraw: operated("review profile withdraw", operations.withdrawProfile),
    restore: operated("review profile restore", operations.restoreProfile),
    edit,
    merge: operated("review profile merge", operations.mergeProfile),
  },
});
