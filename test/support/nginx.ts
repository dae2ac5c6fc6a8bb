import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { aFolder } from "./at-file-top.ts";
import { freePort, untilAnswers } from "./processes.ts";

/** nginx and its brotli modules are Debian packages; tests that need them are skipped where they are not installed. */
export const hasNginx =
  Bun.which("nginx") !== null &&
  Bun.spawnSync(["sh", "-c", "ls /etc/nginx/modules-enabled | grep -q brotli-static"]).exitCode ===
    0;

export type TestNginx = Awaited<ReturnType<typeof startNginx>>;

/** Debian's nginx with site/delivery/edge/nginx.conf, over a folder and in front of a service. */
export async function startNginx(options: {
  root: string;
  /** Of the service, or of several. */
  servicePort: number | readonly number[];
  /** Listens with a certificate of its own making, as the example does. */
  tls?: boolean;
}) {
  const folder = aFolder();
  const port = await freePort();
  const plainPort = await freePort();
  const { tls = false } = options;
  makeCertificate(folder());
  cpSync("site/delivery/edge/nginx", folder("nginx"), { recursive: true });
  const own: [from: string, to: string][] = [
    ["user www-data;", process.getuid?.() === 0 ? "user root;" : ""],
    ["worker_processes auto;", "worker_processes 1;"],
    ["pid /run/nginx.pid;", `pid ${folder()}/nginx.pid;`],
    ["error_log /var/log/nginx/error.log warn;", `error_log ${folder()}/error.log warn;`],
    ["access_log /var/log/nginx/almoner.log combined;", "access_log off;"],
    [
      "server 127.0.0.1:8080;",
      [options.servicePort]
        .flat()
        .map((one) => `server 127.0.0.1:${one};`)
        .join(" "),
    ],
    ["listen 80 default_server;", `listen 127.0.0.1:${plainPort};`],
    ["listen 443 ssl default_server;", `listen 127.0.0.1:${port}${tls ? " ssl" : ""};`],
    ["/etc/ssl/almoner/fullchain.pem", `${folder()}/cert.pem`],
    ["/etc/ssl/almoner/privkey.pem", `${folder()}/key.pem`],
    ["root /srv/almoner/public;", `root ${options.root};`],
    [
      "include nginx/http.conf;",
      `include nginx/http.conf; client_body_temp_path ${folder()}/body; proxy_temp_path ${folder()}/proxy;`,
    ],
  ];
  let text = readFileSync("site/delivery/edge/nginx.conf", "utf8");
  for (const [from, to] of own) {
    if (!text.includes(from))
      throw new Error(`site/delivery/edge/nginx.conf has no line "${from}"`);
    text = text.replace(from, to);
  }
  writeFileSync(folder("nginx.conf"), text);
  const server = Bun.spawn(["nginx", "-c", folder("nginx.conf"), "-g", "daemon off;"], {
    stdout: "ignore",
    stderr: "inherit",
  });
  const plainOrigin = `http://127.0.0.1:${plainPort}`;
  const origin = tls ? `https://127.0.0.1:${port}` : `http://127.0.0.1:${port}`;
  await untilAnswers(tls ? plainOrigin : origin, server);
  return {
    origin,
    plainOrigin,
    port,
    close: async (): Promise<void> => {
      server.kill();
      await server.exited;
      folder.close();
    },
  };
}

/** nginx wants one to start, whether or not it is used. */
function makeCertificate(folder: string): void {
  const words =
    "openssl req -x509 -subj /CN=localhost -nodes -days 1 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
  const files = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  const made = Bun.spawnSync([...words.split(" "), ...files]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
}
