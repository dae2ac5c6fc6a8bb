import { fail, ok } from "#content/contract/base/result.ts";
import { whyNotMerged } from "#content/nonprofit/operator-changes.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { linkSaves } from "#content/register/links-store.ts";
import { changeProfile, conflict, type Operated, type ProfileContext } from "./change-profile.ts";

/**
 * Withdraws a profile in favour of another, which gets what it lacks. Wallet, contact address, claim, donations and
 * submissions stay where they are: what was given to whom never changes, and no organisation gets another's wallet.
 */
export const mergeProfile = (
  context: ProfileContext,
  { into: other, ...asked }: Operated<{ into: string }>,
) =>
  changeProfile(context, { ...asked, change: "merged" }, async (tx, before, now) => {
    const into = await recordBySlug(tx, other);
    if (into === null) return fail({ kind: "nonprofit_not_found", slug: other });
    const why = whyNotMerged(before, into);
    if (why !== null) return conflict(why);
    const { operator, reason } = asked;
    const link = { source: "operator", set_by: operator, reason, now } as const;
    const { saves, fields } = await linkSaves(tx, { gone: before, into }, link);
    return ok({
      saves,
      fields,
      message: `Merged: its page leads to ${other}, which got ${fields.length === 0 ? "nothing that it lacked" : fields.join(", ")}. Donations and submissions stay on record where they were made.`,
      detail: { into: other, fields },
    });
  });
