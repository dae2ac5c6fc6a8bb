import { addresses } from "#content/contract/addresses.ts";
import { ProfileChange, ProfileEdit, ProfileMerge, ProfileReason } from "../profile-change.ts";
import { operations } from "./operation.ts";

const ok = { description: "Done", shape: ProfileChange };

/** How operators put the directory itself right. */
export const profileOperations = operations("Operator", {
  withdrawProfile: {
    method: "post",
    path: addresses.withdrawNonprofit.path,
    body: { shape: ProfileReason },
    ok,
    refusals: [409],
  },
  restoreProfile: {
    method: "post",
    path: addresses.restoreNonprofit.path,
    body: { shape: ProfileReason },
    ok,
    refusals: [409],
  },
  editProfile: {
    method: "post",
    path: addresses.editNonprofit.path,
    body: { shape: ProfileEdit },
    ok,
    refusals: [409],
  },
  mergeProfile: {
    method: "post",
    path: addresses.mergeNonprofit.path,
    body: { shape: ProfileMerge },
    ok,
    refusals: [409],
  },
});
