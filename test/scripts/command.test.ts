import { expect, test } from "bun:test";
import { defineCommand } from "citty";
import {
  flag,
  optionAlone,
  refusalOf,
  textOption,
  textOrEmpty,
  withValues,
  wordedCommand,
} from "#scripts/support/command.ts";
import { theFolder } from "#test/support/at-file-top.ts";
import { runScript } from "#test/support/processes.ts";

const folder = theFolder();

const command = defineCommand({
  meta: { name: "made" },
  args: {
    check: { type: "boolean" },
    "no-peer": { type: "boolean" },
    out: textOption,
    word: textOrEmpty,
    file: { type: "positional", required: false },
  },
});
const desk = defineCommand({ meta: { name: "desk" }, subCommands: { list: command } });

test.each([
  [["--chek"], "Unknown option --chek."],
  [["--chek=1", "file"], "Unknown option --chek."],
  [["-check"], "Unknown option -check."],
  [["file", "-c"], "Unknown option -c."],
  [["--no-out"], "Unknown option --no-out."],
  [["file", "check"], "Unknown word check."],
  [["--check", "yes", "--", "file"], "Unknown word file."],
  [["--out"], "--out needs a value."],
  [["--out", "", "file"], "--out needs a value."],
  [["--out="], "--out needs a value."],
  [["--out", "--check"], "--out needs a value."],
  [["--out=--check", "--word", ""], null],
  [["--check", "file"], null],
  [["--no-check"], null],
  [["--no-peer"], null],
  [["--out", "-2", "-"], null],
  [["--help"], null],
  [["-h"], null],
  [["--", "--anything"], null],
])("%j: what is refused is %j", (given, fault) => {
  const usage = "made takes --check, --no-peer, --out, --word, FILE; --help says more.";
  expect(refusalOf(command, given)).toBe(fault && `${fault} ${usage}`);
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
  expect(refusalOf(desk, ["list", "--check"])).toBeNull();
  expect(refusalOf(desk, ["list", "--all"])).toStartWith("Unknown option --all. made takes");
  expect(refusalOf(desk, ["lists"])).toBe("Unknown word lists. desk takes list; --help says more.");
  expect(refusalOf(desk, [])).toBeNull();
});

test("a command with a mistyped option, or a word too many, does nothing", async () => {
  for (const words of [["-status"], ["status"], ["--rollback", "7", "8"]]) {
    const { code, err } = await runScript("publish", words, { ALMONER_DATA_DIR: "/dev/null" });
    expect([code, err]).toEqual([2, expect.stringContaining("publish takes --full, --watch,")]);
  }
  for (const [name, words, fault] of [
    ["review", [], "No command specified. review takes queues,"],
    ["review", ["show"], "Missing required positional argument: ID. show takes ID, --json;"],
    ["verify", ["--list"], "Missing required positional argument: TARGET. verify takes TARGET,"],
    ["backup", [], "store.db. Correct ALMONER_DATA_DIR."],
    ["restore", ["--from=/none"], "no complete backup at /none. Say with --from where one is."],
    ["restore", ["--from=/none", "--name=x"], "/none has no backup x. It has: none."],
    ["ready", ["--dir=/none"], "--dir: there is no folder /none."],
  ] as const) {
    const { code, err } = await runScript(name, words, { ALMONER_DATA_DIR: folder });
    expect([code, err]).toEqual([2, expect.stringContaining(fault)]);
  }
});

test("help has no colours where none are wanted", async () => {
  const { code, out } = await runScript("mcp", ["--help"], { NO_COLOR: "yes" });
  expect([code, out]).toEqual([0, expect.stringContaining("\nUSAGE mcp ")]);
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
