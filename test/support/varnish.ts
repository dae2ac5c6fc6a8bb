import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { aFolder } from "./at-file-top.ts";
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
  const folder = aFolder();
  const port = await freePort();
  const vcl = readFileSync("site/delivery/edge/varnish.vcl", "utf8");
  const line = '.port = "8080";';
  if (!vcl.includes(line)) throw new Error(`site/delivery/edge/varnish.vcl has no line ${line}`);
  writeFileSync(folder("almoner.vcl"), vcl.replace(line, `.port = "${backendPort}";`));
  const files = ["-n", folder("work"), "-f", folder("almoner.vcl")];
  const words = `varnishd -F -j none -a 127.0.0.1:${port} -T none -s malloc,32m`.split(" ");
  const server = Bun.spawn([...words, ...files], { stdout: "ignore", stderr: "pipe" });
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
      folder.close();
    },
  };
}
