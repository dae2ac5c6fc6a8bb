import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Figure, figure, median, runBench, serving } from "./support/harness.ts";
import { needTools, wrk } from "./support/load.ts";
import { column, serveWhole } from "./support/serve.ts";

const pathCount = 1_000;

await runBench({
  name: "serve",
  description:
    "The embedded server and nginx on the exported folder, in turn on the same 1,000 files (needs wrk and nginx)",
  options: {
    ...serving,
    rounds: [5, "Rounds of each, in turn"],
    seconds: [4, "Length of one round"],
  },
  run: async ({ profiles, port, rounds, seconds, folder }) => {
    needTools("wrk", "nginx");
    await using served = await serveWhole({ folder, profiles, port });
    const slugs = await column(
      served.store,
      "SELECT slug FROM nonprofits ORDER BY (id * 7919) % 41011 LIMIT ?",
      [pathCount / 2],
    );
    // By the file's own name: what all servers find without a rule.
    const paths = slugs.flatMap((slug) => [
      `/nonprofits/${slug}.html`,
      `/api/nonprofits/${slug}.json`,
    ]);
    const root = join(folder, "public");
    const nginx = startNginx(folder, root, port + 1);
    const rates: [number[], number[]] = [[], []];
    try {
      for (let round = 0; round <= rounds; round++) {
        for (const [at, all] of rates.entries()) {
          const rate = await wrk(`http://127.0.0.1:${port + at}`, { paths, seconds, folder });
          if (round > 0) all.push(rate); // The first round warms up.
        }
      }
    } finally {
      nginx.kill();
    }
    return { title: `Serving ${pathCount} files of ${profiles} profiles`, figures: compare(rates) };
  },
});

function startNginx(folder: string, root: string, port: number): Bun.Subprocess {
  const config = join(folder, "nginx.conf");
  writeFileSync(
    config,
    // As root it would read as somebody else, who may not enter the folder.
    `${process.getuid?.() === 0 ? "user root;" : ""} worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
     events { worker_connections 1024; }
     http { access_log off; sendfile on; tcp_nopush on; open_file_cache max=4000 inactive=60s; keepalive_requests 100000000;
       types { text/html html; application/json json; }
       client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
       server { listen 127.0.0.1:${port}; root ${root}; } }`,
  );
  return Bun.spawn(["nginx", "-c", config, "-p", folder], {
    stdio: ["ignore", "ignore", "ignore"],
  });
}

function compare([ours, nginx]: [number[], number[]]): Figure[] {
  const ratio = median(ours.map((one, at) => one / (nginx[at] ?? NaN)));
  return [
    figure("embedded server, median", median(ours), "/s"),
    figure("nginx, one worker, median", median(nginx), "/s"),
    figure("ours ÷ nginx, median of rounds", ratio, "", { least: 0.8 }),
  ];
}
