// Stock Node: so many clients, each with a connection that it keeps, ask until there were so many answers and their input
// ends. Prints how many were answered, and what became of the others.
import { Agent, get } from "node:http";

const [url, clients, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const idleMsMax = 40;
const failures = {};
let [answered, done] = [0, false];
process.stdin.resume().on("end", () => (done = true));

const ask = (agent) =>
  new Promise((resolve) => {
    get(url, { agent }, (answer) => {
      const ok = answer.statusCode === 200;
      answer.resume().on("end", () => resolve(ok ? null : answer.statusCode));
    }).on("error", ({ code }) => resolve(code));
  });

async function aClient() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!done || answered < count) {
    const failure = await ask(agent);
    if (failure === null) answered++;
    else failures[failure] = (failures[failure] ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * idleMsMax));
  }
  agent.destroy();
}

await Promise.all(Array.from({ length: clients }, aClient));
process.stdout.write(JSON.stringify({ answered, failures }));
