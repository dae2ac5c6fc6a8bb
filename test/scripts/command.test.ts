import { expect, test } from "bun:test";
import { defineCommand } from "citty";
import {
  flag,
  optionAlone,
  textOption,
  unknownOption,
  withValues,
  wordedCommand,
} from "#scripts/support/command.ts";

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
  const going = { args: { back: optionAlone("-1"), json: flag } };
  expect(withValues(going, ["--back", "--json"])).toEqual(["--back=-1", "--json"]);
  expect(withValues(going, ["--json", "--back"])).toEqual(["--json", "--back=-1"]);
  expect(withValues(going, ["--back", "-2"])).toEqual(["--back", "-2"]);
  expect(withValues(going, ["--back=7"])).toEqual(["--back=7"]);
  expect(withValues({ args: { back: textOption } }, ["--back"])).toEqual(["--back"]);
});

test("a subcommand's options are its own", () => {
  expect(unknownOption(desk, ["list", "--check"])).toBeNull();
  expect(unknownOption(desk, ["list", "--all"])).toBe("--all");
});

test("an option says what it says itself, else the command's words, else what its name says everywhere", () => {
  const { meta, args } = wordedCommand("review revoke", {
    args: { slug: textOption, json: flag, values: flag, reason: { ...flag, description: "own" } },
  });
  expect(meta).toMatchObject({ name: "revoke", description: expect.stringMatching(/^Takes back/) });
  expect(args).toMatchObject({
    slug: { description: "Slug of the profile (required)" },
    json: { description: "Answer as JSON on standard output" },
    values: { negativeDescription: expect.stringMatching(/^Keep/) },
    reason: { description: "own" },
  });
});
