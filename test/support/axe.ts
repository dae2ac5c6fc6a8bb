import { existsSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { clientFile } from "./clients.ts";

const axe = clientFile("node_modules/axe-core/axe.min.js");

export const axeInstalled = existsSync(axe);

type Result = {
  violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[];
};

/** What axe finds on the page as it is shown now, a line for each element; by these rules only, if some are named. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(readFileSync(axe, "utf8"));
  const options = JSON.stringify(rules === undefined ? {} : { runOnly: rules });
  const { violations } = await page.evaluate<Result>(`axe.run(${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary ?? ""}`),
  );
}
