import { auditPageMax, readAudit } from "#content/operation/audit-store.ts";
import { stopWith } from "../support/config.ts";
import { withStore } from "./commands.ts";

type LogArgs = {
  operator?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  before?: string | undefined;
  limit: string;
  json?: boolean | undefined;
};

/** `bun run review log`. */
export async function logged(args: LogArgs) {
  const limit = Number(args.limit);
  if (!Number.isInteger(limit) || limit < 1) stopWith("--limit: give a whole number from 1.", 2);
  const before = args.before === undefined ? null : Number(args.before);
  if (before !== null && (!Number.isInteger(before) || before < 1)) {
    stopWith("--before: give the number that a page ended with.", 2);
  }
  await withStore(async (store) => {
    const { operator = null, action = null, subject = null } = args;
    const page = { operator, action, subject, before, limit: Math.min(limit, auditPageMax) };
    const log = await readAudit({ store }, page);
    if (args.json === true) {
      console.log(JSON.stringify(log));
      return;
    }
    for (const entry of log.entries) {
      // Subjects and details may hold what others wrote: escaped, so that it cannot play with the terminal.
      const what = `${entry.action}  ${JSON.stringify(entry.subject)}  ${JSON.stringify(entry.detail)}`;
      console.log(`${entry.happened_at}  ${entry.operator}  ${what}`);
    }
    if (log.entries.length === 0) console.log("Nothing stands in the log.");
    if (log.next !== null) console.log(`More: --before ${log.next}`);
  });
}
