import { revokeVerification } from "#api/operator/revoke-verification.ts";
import { systemClock } from "#content/contract/time.ts";
import { stopWith } from "../support/config.ts";
import { withStore } from "./commands.ts";

type Args = {
  slug?: string | undefined;
  reason?: string | undefined;
  values?: boolean | undefined;
  operator: string;
  json?: boolean | undefined;
};

/** `bun run review revoke --slug SLUG --reason WHY`. */
export async function revoked(args: Args) {
  const slug = args.slug?.trim() ?? "";
  const reason = args.reason?.trim() ?? "";
  if (slug === "") stopWith("--slug: give the slug of the profile.", 2);
  if (reason === "") stopWith("--reason: say why, for the audit log.", 2);
  await withStore(async (store) => {
    const outcome = await revokeVerification(
      { store, clock: systemClock },
      { slug, reason, operator: args.operator, takeBackValues: args.values === true },
    );
    if (args.json === true) console.log(JSON.stringify(outcome));
    else if (outcome.ok) {
      const { taken_back, stopped_hold } = outcome.value;
      const fields = taken_back.length === 0 ? "nothing" : taken_back.join(", ");
      console.log(`${slug} is a listing again. Taken back: ${fields}.`);
      if (stopped_hold) console.log("The held change of its wallet is stopped.");
    } else {
      console.error(
        outcome.failure.kind === "not_verified"
          ? `${slug}: it is not verified; nothing to take back.`
          : `${slug}: no nonprofit has this slug.`,
      );
    }
    if (!outcome.ok) process.exitCode = 1;
  });
}
