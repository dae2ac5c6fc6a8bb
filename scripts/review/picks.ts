import { pickRefusals } from "#api/operator/routes.ts";
import { refusalOf } from "#api/http/problem.ts";
import {
  addToPicks,
  editPick,
  listPicks,
  type PickFailure,
  picksPageMax,
  removePick,
} from "#api/operator/picks.ts";
import { systemClock } from "#content/contract/time.ts";
import { CauseId } from "#content/contract/cause.ts";
import type { PickChange, PickItem } from "#content/contract/pick.ts";
import type { Result } from "#content/contract/result.ts";
import { stopWith } from "../support/config.ts";
import { withStore } from "./commands.ts";

type Output = { json?: boolean | undefined };
type Words = {
  slug: string;
  for?: string | undefined;
  why?: string | undefined;
  causes?: string | undefined;
  operator: string;
} & Output;

/** `bun run review pick list`. */
export async function picked(args: { limit: string; after?: string | undefined } & Output) {
  const limit = Number(args.limit);
  if (!Number.isInteger(limit) || limit < 1) stopWith("--limit: give a whole number from 1.", 2);
  await withStore(async (store) => {
    const page = { limit: Math.min(limit, picksPageMax), after: args.after ?? null };
    const found = await listPicks({ store }, page);
    if (args.json === true) {
      console.log(JSON.stringify(found));
      return;
    }
    for (const one of found.picks) console.log(printed(one));
    if (found.count === 0) console.log("Nothing is recommended by the store.");
    for (const slug of found.in_file) console.log(`${slug}  (content/editorial/starter-set.json)`);
    if (found.next !== null) console.log(`More: --after ${found.next}`);
  });
}

/** What others wrote is shown with its control characters escaped, so that it cannot play with the terminal. */
const printed = ({ slug, origin, added_by, recommended_for, why_recommended }: PickItem): string =>
  [
    `${slug}  by ${origin}${added_by === "" ? "" : ` (${JSON.stringify(added_by)})`}`,
    ...recommended_for.map((intent) => `  for ${JSON.stringify(intent)}`),
    `  ${JSON.stringify(why_recommended)}`,
    "",
  ].join("\n");

/** `bun run review pick add`. */
export async function added(args: Words) {
  const { recommended_for = [], why_recommended = "", causes } = wordsOf(args);
  if (recommended_for.length === 0) stopWith("--for: give the donor intents.", 2);
  if (why_recommended === "") stopWith("--why: give one to three sentences.", 2);
  const { slug, operator } = args;
  const body = { slug, operator, recommended_for, why_recommended, causes };
  await withStore(async (store) =>
    tell(args, await addToPicks({ store, clock: systemClock }, body)),
  );
}

/** `bun run review pick edit`. */
export async function edited(args: Words) {
  const words = wordsOf(args);
  if (Object.values(words).every((one) => one === undefined)) {
    stopWith("Give at least one of --for, --why and --causes.", 2);
  }
  const { slug, operator } = args;
  const edit = { slug, operator, ...words };
  await withStore(async (store) => tell(args, await editPick({ store, clock: systemClock }, edit)));
}

/** `bun run review pick remove`. */
export async function removed(
  args: { slug: string; reason?: string | undefined; operator: string } & Output,
) {
  const reason = args.reason?.trim() ?? "";
  if (reason === "") stopWith("--reason: say why, for the audit log.", 2);
  const call = { slug: args.slug, operator: args.operator, reason };
  await withStore(async (store) =>
    tell(args, await removePick({ store, clock: systemClock }, call)),
  );
}

function wordsOf({ for: intents, why, causes }: Words) {
  return {
    recommended_for: intents?.split(";").flatMap((one) => one.trim() || []),
    why_recommended: why?.trim(),
    causes: causes === undefined ? undefined : causesOf(causes),
  };
}

function causesOf(text: string): CauseId[] | null {
  if (text.trim() === "all") return null;
  return text.split(",").map((one) => {
    const read = CauseId.safeParse(one.trim());
    return read.success
      ? read.data
      : stopWith(`--causes: there is no cause ${JSON.stringify(one)}.`, 2);
  });
}

function tell(
  { slug, json }: { slug: string } & Output,
  outcome: Result<PickChange, PickFailure>,
): void {
  if (json === true) console.log(JSON.stringify(outcome));
  else if (outcome.ok) console.log(`${slug}: ${outcome.value.message}`);
  else console.error(`${slug}: ${refusalOf(pickRefusals, outcome.failure).detail}`);
  if (!outcome.ok) process.exitCode = 1;
}
