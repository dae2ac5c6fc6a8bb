import { withdrawnByRegister } from "#content/register/merge.ts";
import { listedInScopes } from "#content/register/import-store.ts";
import type { Store } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { Applying } from "./apply-register.ts";
import { startPace } from "./pace.ts";
import type { Staging } from "./staging.ts";

const lookedAtAtOnce = 1_000;

/** What the files would withdraw: ids, and how many nonprofits their scopes hold. */
export type Absent = { ids: number[]; listed: number };

/**
 * The nonprofits that the same parts of the register listed before and that no staged row names. One that moved to
 * another file of the same run is staged, and one of a file that is not imported now is in another scope.
 */
export async function findAbsent(
  store: Store,
  staging: Staging,
  register: string,
  scopes: readonly string[],
): Promise<Absent> {
  const absent: Absent = { ids: [], listed: 0 };
  for (let after = 0; ;) {
    const part = await listedInScopes(store, register, scopes, {
      after,
      limit: lookedAtAtOnce,
    });
    const last = part.at(-1);
    if (last === undefined) return absent;
    after = last.id;
    absent.listed += part.length;
    absent.ids.push(...part.filter((one) => !staging.has(one.org_ids)).map(({ id }) => id));
  }
}

/** Withdraws them in short transactions. Their slugs stay taken, and they come back when the register lists them again. */
export async function withdrawAbsent(
  { store, report, clock, signal }: Omit<Applying, "staging" | "onDone">,
  ids: readonly number[],
  register: string,
): Promise<void> {
  const pace = startPace();
  for (let at = 0; at < ids.length && !signal.aborted;) {
    const part = ids.slice(at, at + pace.size());
    at += part.length;
    report.withdrawn += await pace.run(() =>
      store.write(async (tx) => {
        const records = await recordsById(tx, part);
        const saves = records.flatMap((before) => {
          const after = before.register === register ? withdrawnByRegister(before) : null;
          return after === null ? [] : [{ before, after }];
        });
        await saveNonprofits(tx, saves, { origin: `import:${register}`, now: clock() });
        return saves.length;
      }),
    );
  }
}
