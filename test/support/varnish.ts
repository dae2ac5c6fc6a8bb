import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, untilAnswers } from "./processes.ts";

/** Varnish and its xkey module are Debian packages; tests that need them are skipped where they are not installed. */
export const hasVarnish =
  Bun.which("varnishd") !== null &&
  ["x86_64", "aarch64"].some((machine) =>
    existsSync(`/usr/lib/${machine}-linux-gnu/varnish/vmods/libvmod_xkey.so`),
  );

export type TestVarnish = Awaited<ReturnType<typeof startVarnish>>;

/** Debian's Varnish with site/delivery/edge/varnish.vcl in front of a local port. */
export async function startVarnish(backendPort: number) {
  const folder = mkdtempSync(join(tmpdir(), "almoner-varnish-"));
  const port = await freePort();
  const vcl = readFileSync("site/delivery/edge/varnish.vcl", "utf8");
  const line = '.port = "8080";';
  if (!vcl.includes(line)) throw new Error(`site/delivery/edge/varnish.vcl has no line ${line}`);
  writeFileSync(join(folder, "almoner.vcl"), vcl.replace(line, `.port = "${backendPort}";`));
  const server = Bun.spawn(
    [
      "varnishd",
      "-F",
      "-j",
      "none",
      "-n",
      join(folder, "work"),
      "-a",
      `127.0.0.1:${port}`,
      "-T",
      "none",
      "-s",
      "malloc,32m",
      "-f",
      join(folder, "almoner.vcl"),
    ],
    { stdout: "ignore", stderr: "pipe" },
  );
  const origin = `http://127.0.0.1:${port}`;
  await untilAnswers(`${origin}/healthz`, server).catch(async (error: unknown) => {
    server.kill();
    throw new Error(await new Response(server.stderr).text(), { cause: error });
  });
  return {
    origin,
    close: async () => {
      server.kill();
      await server.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
