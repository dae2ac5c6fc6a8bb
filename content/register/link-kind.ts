import { linkWords } from "#content/contract/nonprofit.ts";
import { ok } from "#content/contract/base/result.ts";
import { noted } from "#content/contract/review.ts";
import { whyNotMerged } from "#content/nonprofit/operator-changes.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { planSaves } from "#content/nonprofit/save.ts";
import { closeLink, type Link, planLink, waitingLinks } from "./links-store.ts";
import { planned } from "#content/operation/plan.ts";
import { conflict, notWaiting, numbered, requestKind } from "#content/requests/kind.ts";

type Waiting = Omit<Link, "nonprofit_id"> & { nonprofit_id: number; status: string };

/** Pairs of profiles that seem to be one organisation, of which one is claimed: an operator decides. */
export const linkRequests = requestKind<Waiting>({
  kind: "link",
  ...numbered(waitingLinks),

  item: async (_, { row, record }) => ({
    key: String(row.id),
    summary: `${row.gone} and this profile seem to be of one organisation. Approve to keep this one with the registrations of both; reject, with a reason, and they are never linked by themselves.`,
    detail: {
      keeps: row.kept,
      withdraws: row.gone,
      registrations: [row.org_id, row.other_org_id],
      source: row.source,
      website: record.website,
    },
    checks: [noted("source", `Linked: ${linkWords[row.source]}.`)],
    created_at: row.set_at,
  }),

  approve: async (store, { row, record: into }, { operator, reason, now }) => {
    const gone = await recordBySlug(store, row.gone ?? "");
    if (gone === null) return notWaiting("link", String(row.id));
    const why = whyNotMerged(gone, into);
    if (why !== null) return conflict(why);
    const set = { source: row.source, set_by: operator, reason: reason || null, now };
    const { saves, statements } = await planLink(store, { gone, into }, set);
    const message = `Linked: ${gone.slug} leads here, with its registrations.`;
    const saved = await planSaves(store, saves, { origin: "operator", now });
    return planned(ok({ message }), ...statements, ...saved.statements);
  },

  reject: (_, { row }, { operator: by, reason, now }) =>
    planned(
      ok({ message: "They stay two, and are never linked by themselves." }),
      closeLink(row.id, { by, reason, now }),
    ),
});
