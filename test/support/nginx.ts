import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, untilAnswers } from "./processes.ts";

/** nginx and its brotli modules are Debian packages; tests that need them are skipped where they are not installed. */
export const hasNginx =
  Bun.which("nginx") !== null &&
  Bun.spawnSync(["sh", "-c", "ls /etc/nginx/modules-enabled | grep -q brotli-static"]).exitCode ===
    0;

export type TestNginx = { origin: string; port: number; close(): Promise<void> };

/** Debian's nginx with site/delivery/edge/nginx.conf, over a folder and in front of a service. */
export async function startNginx(options: {
  root: string;
  servicePort: number;
}): Promise<TestNginx> {
  const folder = mkdtempSync(join(tmpdir(), "almoner-nginx-"));
  const port = await freePort();
  cpSync("site/delivery/edge/nginx", join(folder, "nginx"), { recursive: true });
  const own: [from: string, to: string][] = [
    ["user www-data;", process.getuid?.() === 0 ? "user root;" : ""],
    ["worker_processes auto;", "worker_processes 1;"],
    ["pid /run/nginx.pid;", `pid ${folder}/nginx.pid;`],
    ["error_log /var/log/nginx/error.log warn;", `error_log ${folder}/error.log warn;`],
    ["access_log /var/log/nginx/almoner.log combined;", "access_log off;"],
    ["server 127.0.0.1:8080;", `server 127.0.0.1:${options.servicePort};`],
    ["listen 80 default_server;", `listen 127.0.0.1:${port};`],
    ["root /srv/almoner/public;", `root ${options.root};`],
    [
      "include nginx/http.conf;",
      `include nginx/http.conf; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;`,
    ],
  ];
  let text = readFileSync("site/delivery/edge/nginx.conf", "utf8");
  for (const [from, to] of own) {
    if (!text.includes(from))
      throw new Error(`site/delivery/edge/nginx.conf has no line "${from}"`);
    text = text.replace(from, to);
  }
  writeFileSync(join(folder, "nginx.conf"), text);
  const server = Bun.spawn(["nginx", "-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
    stdout: "ignore",
    stderr: "inherit",
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilAnswers(origin, server);
  return {
    origin,
    port,
    close: async () => {
      server.kill();
      await server.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
