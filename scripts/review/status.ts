import { DailyNumbers, OperatorHealth } from "#content/contract/operator.ts";
import { daysMax } from "#api/operator/health.ts";
import { stopWith } from "../support/config.ts";
import { defaultOperator, type Output, valueOf, withOperatorApi } from "../support/operator-api.ts";

/** `bun run review health`: without a running service nothing is known of the chain. */
export async function showHealth(args: Output) {
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const answer = await call({ path: "/api/admin/health" }, OperatorHealth);
    const { warnings, at, ...health } = valueOf(answer);
    if (args.json === true) console.log(JSON.stringify({ at, warnings, ...health }));
    else {
      for (const [name, value] of Object.entries(health)) {
        const shown = value === null ? "not known here" : JSON.stringify(value);
        console.log(`${name.padEnd(14)}${shown}`);
      }
      for (const warning of warnings) console.log(`! ${warning}`);
    }
    if (warnings.length > 0) process.exitCode = 1;
  });
}

/** `bun run review numbers`. */
export async function showNumbers(args: { days: string } & Output) {
  const days = Number(args.days);
  if (!Number.isInteger(days) || days < 1 || days > daysMax) {
    stopWith(`--days: give a whole number from 1 to ${daysMax}.`, 2);
  }
  await withOperatorApi(defaultOperator, async ({ call }) => {
    const query = { days };
    const numbers = valueOf(await call({ path: "/api/admin/numbers", query }, DailyNumbers));
    if (args.json === true) {
      console.log(JSON.stringify(numbers));
      return;
    }
    for (const [name, values] of Object.entries(numbers)) {
      const shown = values.map((value) => String(value).padStart(10)).join(" ");
      console.log(`${name.padEnd(18)}${shown}`);
    }
  });
}
