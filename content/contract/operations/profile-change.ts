import { addresses } from "#content/contract/addresses.ts";
import { ProfileChange, ProfileEdit, ProfileMerge, ProfileReason } from "../profile-change.ts";
import { operations } from "./operation.ts";

const ok = { description: "Done", shape: ProfileChange };

/** How operators put the directory itself right. */
export const profileOperations = operations("Operator", {
  withdrawProfile: {
    method: "post",
    path: addresses.withdrawNonprofit.path,
    summary: "Withdraw a profile",
    description:
      "It leaves every list and search and takes no more data and no donations; its address, history and receipts stay. No register restores it.",
    body: { shape: ProfileReason },
    ok,
    refusals: [409],
  },
  restoreProfile: {
    method: "post",
    path: addresses.restoreNonprofit.path,
    summary: "Restore a withdrawn profile",
    description:
      "Also one that a register withdrew, which keeps it from withdrawing it again. Of one that was merged or linked, where both have a register number, the merge is undone: registrations, register facts and values that the other got come back, and the two are never linked again by themselves. Otherwise what went to the other profile stays there.",
    body: { shape: ProfileReason },
    ok,
    refusals: [409],
  },
  editProfile: {
    method: "post",
    path: addresses.editNonprofit.path,
    summary: "Set or empty fields of a profile",
    description:
      "The provenance of each says operator. Submissions of another value are rejected. A wallet is set by its organisation alone, and taken away by revoking its verification.",
    body: { shape: ProfileEdit },
    ok,
    refusals: [409],
  },
  mergeProfile: {
    method: "post",
    path: addresses.mergeNonprofit.path,
    summary: "Merge a profile into another",
    description:
      "It says that both are one organisation. `into` gets what it lacks: values, causes, programmes, metrics and registrations. Wallet, contact address, donations and submissions stay where they are. The profile is withdrawn with `merged_into`, and its page leads to the other.",
    body: { shape: ProfileMerge },
    ok,
    refusals: [409],
  },
});
