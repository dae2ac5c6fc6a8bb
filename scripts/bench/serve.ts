import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { type Figure, printFigures, quantile } from "./support/figures.ts";
import { type ServedDirectory, serveSample } from "./support/served.ts";
import { needTools, wrk, writePaths } from "./support/load.ts";
import { runCommand } from "../support/command.ts";

const paths = 1_000;

const command = defineCommand({
  meta: {
    name: "bench serve",
    description:
      "The embedded server, nginx on the exported folder and a raw Bun file server, in turn on the same 1,000 files (needs wrk and nginx)",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    rounds: { type: "string", default: "5", description: "Rounds of each, in turn" },
    seconds: { type: "string", default: "4", description: "Length of one round" },
    dir: { type: "string", default: tmpdir(), description: "Where the directory is made" },
    port: { type: "string", default: "18180", description: "First of three ports" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    needTools("wrk", "nginx");
    const port = Number(args.port);
    const served = await serveSample(args.dir, Number(args.profiles), port);
    const folder = mkdtempSync(join(args.dir, "almoner-bench-serve-"));
    const nginx = startNginx(folder, join(served.dataDir, "public"), port + 1);
    const raw = startRaw(join(served.dataDir, "public"), port + 2);
    try {
      const script = await writeScript(folder, served);
      const rounds = { count: Number(args.rounds), seconds: Number(args.seconds) };
      const figures = await compare(script, port, rounds);
      printFigures(
        `Serving ${paths} files of ${args.profiles} profiles`,
        figures,
        args.json === true,
      );
    } finally {
      nginx.kill();
      raw.kill();
      await served.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** Profile pages and their JSON, by the file's own name: what both servers find without a rule. */
async function writeScript(folder: string, { store }: ServedDirectory): Promise<string> {
  const { rows } = await store.raw.execute({
    sql: "SELECT slug FROM nonprofits ORDER BY (id * 7919) % 41011 LIMIT ?",
    args: [paths / 2],
  });
  const all = rows.flatMap((row) => [
    `/nonprofits/${String(row["slug"])}.html`,
    `/api/nonprofits/${String(row["slug"])}.json`,
  ]);
  return writePaths(folder, all);
}

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

/** The raw limit: Bun sends the file that the path names, and knows nothing else. */
function startRaw(root: string, port: number): Bun.Subprocess {
  const code = `Bun.serve({ hostname: "127.0.0.1", port: ${port}, fetch: (request) => new Response(Bun.file(${JSON.stringify(root)} + request.url.slice(request.url.indexOf("/", 8)))) })`;
  return Bun.spawn([process.execPath, "-e", code], { stdio: ["ignore", "ignore", "inherit"] });
}

async function compare(
  script: string,
  port: number,
  { count, seconds }: { count: number; seconds: number },
): Promise<Figure[]> {
  const rates: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= count; round++) {
    for (const at of [0, 1, 2] as const) {
      const rate = await wrk(`http://127.0.0.1:${port + at}`, { script, seconds });
      if (round > 0) rates[at].push(rate); // The first round warms up.
    }
  }
  const [ours, nginx, raw] = rates;
  const rate = (all: number[]) => `${Math.round(quantile(all, 0.5)).toLocaleString("en")}/s`;
  const ratio = (others: number[]) =>
    quantile(
      ours.map((one, at) => one / (others[at] ?? Number.NaN)),
      0.5,
    );
  const least = (what: string, value: number): Figure => ({
    what,
    measured: value.toFixed(2),
    asked: "≥ 0.8",
    met: value >= 0.8,
  });
  return [
    { what: "embedded server", measured: rate(ours), asked: "median", met: null },
    { what: "nginx, one worker", measured: rate(nginx), asked: "median", met: null },
    { what: "raw Bun file server", measured: rate(raw), asked: "median", met: null },
    least("ours ÷ nginx, median of rounds", ratio(nginx)),
    least("ours ÷ raw Bun, median of rounds", ratio(raw)),
  ];
}

await runCommand(command);
