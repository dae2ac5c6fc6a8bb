import { expect, test } from "bun:test";
import { defineCommand } from "citty";
import { unknownOption, withValues } from "#scripts/support/command.ts";

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

test("an option that may stand alone does not take the next one for its value", () => {
  const alone = { back: "-1" };
  expect(withValues(["--back", "--json"], alone)).toEqual(["--back=-1", "--json"]);
  expect(withValues(["--json", "--back"], alone)).toEqual(["--json", "--back=-1"]);
  expect(withValues(["--back", "-2"], alone)).toEqual(["--back", "-2"]);
  expect(withValues(["--back=7"], alone)).toEqual(["--back=7"]);
});

test("a subcommand's options are its own", () => {
  expect(unknownOption(desk, ["list", "--check"])).toBeNull();
  expect(unknownOption(desk, ["list", "--all"])).toBe("--all");
});
