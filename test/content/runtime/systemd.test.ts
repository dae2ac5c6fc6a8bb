import { expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reportToSystemd } from "#content/runtime/systemd.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const root = join(import.meta.dirname, "../../..");
const folder = theFolder();

const installed = Bun.which("systemd-analyze") !== null;
/** The exposure that `systemd-analyze security` may find at most, in tenths: 0 is none, 100 that of a unit without any rule. */
const exposureMax = 20;

const where = installed ? "" : " (skipped: systemd is not installed)";

const units = ["almoner", "almoner-service", "almoner-publisher"];
const textOf = (unit: string) =>
  readFileSync(join(root, `scripts/systemd/${unit}.service`), "utf8");

test.skipIf(!installed)(`the units are such that systemd understands, and hardened${where}`, () => {
  // Where the project stands here: systemd looks for the program.
  const files = units.map((unit) => join(folder, `${unit}.service`));
  for (const [at, file] of files.entries())
    writeFileSync(file, textOf(units[at] ?? "").replaceAll("/opt/almoner", root));
  for (const check of [
    ["verify", "--recursive-errors=no", ...files],
    ["security", "--offline=true", `--threshold=${exposureMax}`, ...files],
  ]) {
    const { exitCode, stderr, stdout } = Bun.spawnSync(["systemd-analyze", "--no-pager", ...check]);
    expect(stderr.toString()).toBe("");
    expect(exitCode === 0 ? "" : stdout.toString()).toBe("");
  }
});

test("the units of the roles allow no more than the one of both", () => {
  const rules = (unit: string) => textOf(unit).slice(textOf(unit).indexOf("# It needs nothing"));
  expect(rules("almoner-service")).toBe(rules("almoner"));
  expect(rules("almoner-publisher")).toBe(rules("almoner"));
});

test("a service that systemd started says that it is ready, and goes on saying that it lives", async () => {
  const said = join(folder, "said");
  const program = join(folder, "systemd-notify");
  writeFileSync(said, "");
  writeFileSync(program, `#!/bin/sh\necho "$1" >> ${said}\n`);
  chmodSync(program, 0o755);
  const troubles: unknown[] = [];
  const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}` };
  const onFailure = (error: unknown) => troubles.push(error);
  expect(reportToSystemd(env, onFailure)).toBeNull();
  const started = { ...env, NOTIFY_SOCKET: "/x", WATCHDOG_USEC: "20000" };
  const reporting = reportToSystemd(started, onFailure);
  const lines = () => readFileSync(said, "utf8").split("\n");
  while (lines().length < 5) await Bun.sleep(5);
  expect(lines().slice(0, 4)).toEqual(["--ready", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"]);
  expect(troubles).toEqual([]);
  writeFileSync(program, "#!/bin/sh\necho no socket >&2; exit 1\n");
  while (troubles.length === 0) await Bun.sleep(5);
  expect(troubles).toEqual([new Error("no socket\n")]);
  await reporting?.stop();
});
