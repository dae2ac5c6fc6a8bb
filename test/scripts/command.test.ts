import { expect, test } from "bun:test";
import { defineCommand } from "citty";
import { unknownOption } from "#scripts/support/command.ts";

const command = defineCommand({
  meta: { name: "made" },
  args: {
    check: { type: "boolean" },
    "no-peer": { type: "boolean" },
    file: { type: "positional", required: false },
  },
});
const desk = defineCommand({ meta: { name: "desk" }, subCommands: { list: command } });

test.each([
  [["--chek"], "--chek"],
  [["--chek=1", "file"], "--chek"],
  [["--check", "file"], null],
  [["--no-check"], null],
  [["--no-peer"], null],
  [["--help"], null],
  [["--", "--anything"], null],
])("%j: the unknown option is %j", (given, unknown) => {
  expect(unknownOption(command, given)).toBe(unknown);
});

test("a subcommand's options are its own", () => {
  expect(unknownOption(desk, ["list", "--check"])).toBeNull();
  expect(unknownOption(desk, ["list", "--all"])).toBe("--all");
});
