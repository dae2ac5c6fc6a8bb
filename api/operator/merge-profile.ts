import { fail, ok } from "#content/contract/result.ts";
import { merged } from "#content/nonprofit/operator-changes.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
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
    if (into.id === before.id) return conflict("A profile cannot be merged into itself.");
    if (into.status === "withdrawn") {
      return conflict(`${other} is withdrawn. Restore it, or merge into another profile.`);
    }
    if (before.merged_into !== null) {
      return conflict(`This profile was merged into ${before.merged_into} before.`);
    }
    if (before.verified === 1 || before.usdc_wallet !== null) {
      return conflict(
        "This profile belongs to its organisation, with a wallet or a verification that cannot move. Merge the other one into it, or revoke its verification first.",
      );
    }
    const { gone, into: after, fields } = merged(before, into, now);
    return ok({
      saves: [
        { before, after: gone },
        { before: into, after },
      ],
      fields,
      message: `Merged: its page leads to ${other}, which got ${fields.length === 0 ? "nothing that it lacked" : fields.join(", ")}. Donations and submissions stay on record where they were made.`,
      detail: { into: other, fields },
    });
  });
