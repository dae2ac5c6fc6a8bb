import { addresses } from "#content/contract/addresses.ts";
import { ProfileChange, ProfileEdit, ProfileMerge, ProfileReason } from "../profile-change.ts";
import { change } from "./change.ts";
import { operations } from "./operation.ts";

const done = ["Done", ProfileChange] as const;

/** How operators put the directory itself right. */
export const profileOperations = operations("Operator", {
  withdrawProfile: change(addresses.withdrawNonprofit, ProfileReason, done, [409]),
  restoreProfile: change(addresses.restoreNonprofit, ProfileReason, done, [409]),
  editProfile: change(addresses.editNonprofit, ProfileEdit, done, [409]),
  mergeProfile: change(addresses.mergeNonprofit, ProfileMerge, done, [409]),
});
