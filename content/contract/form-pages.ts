import type { CorrectionField, CorrectionStatus } from "./correction.ts";
import type { NonprofitDetail, NonprofitSummary } from "./nonprofit.ts";
import type { HostProof, OnboardingStatus } from "./onboarding.ts";
import type { Wrong } from "./problem.ts";

/** What somebody sent in a form that was refused. The form shows it again. */
export type SentForm = {
  values: Readonly<Record<string, string>>;
  /** What is wrong, by the names of fields. */
  wrongs: readonly Wrong[];
  /** The refusal of the whole, when no field is to blame. */
  refusal: { code: string; detail: string } | null;
};

/** A search for the profile that a form is about: nothing was asked yet where `q` is null. */
export type FindStep = {
  step: "find";
  q: string | null;
  total: number;
  found: readonly NonprofitSummary[];
};

/** A form about a profile. `key` tells one sending of it from another. */
type FillStep<Profile> = { step: "fill"; profile: Profile; sent: SentForm | null; key: string };

/** What came of a link or of a button of a status page: its kind, and how the API says it in English; null where it does not. */
export type Statement = {
  kind:
    | "unknown_link"
    | "waits_already"
    | "withdrawn"
    | "mail_sent"
    | HostProof["state"]
    | "submission_not_found"
    | "submission_decided"
    | "host_checks_off"
    | "host_not_reached"
    | "mail_not_possible"
    | "mail_sent_before"
    | "mail_not_sent"
    | "code_not_valid";
  detail: string | null;
};

/** The status of what was sent, for anyone who has the secret of its link; null for nothing. */
type StatusOf<Status> = {
  status: Status | null;
  secret: string;
  said: Statement | null;
  /** Half of those that were decided last had waited at most so long; null for too few. */
  usualDays: number | null;
};

/** Nothing is known of the reader's link. */
export const unknownStatus = { status: null, secret: "", said: null, usualDays: null } as const;

/** All that the service tells a page of a form. The site draws it: it has the words and the shape. */
export type FormPage =
  | ({ page: "/onboard" } & (FindStep | FillStep<NonprofitDetail | null>))
  | ({ page: "/corrections" } & (
      | FindStep
      | { step: "field"; profile: NonprofitDetail }
      | (FillStep<NonprofitDetail> & { field: CorrectionField })
    ))
  /** `code` came with a link by mail; "" for none. `mails`: whether the sender is told by mail. */
  | ({ page: "/onboard/status"; code: string; mails: boolean } & StatusOf<OnboardingStatus>)
  /** `name`: of the organisation whose profile it is about. */
  | ({ page: "/corrections/status"; name: string } & StatusOf<CorrectionStatus>)
  /** `waitS`: seconds until it is worth trying again. `sent`: a form was sent, and the browser still has it. */
  | {
      page: "/refusal";
      status: number;
      code: string;
      detail: string;
      waitS: number | null;
      sent: boolean;
    };

/** What one of these pages is told. */
export type FormPageOf<Page extends FormPage["page"]> = Extract<FormPage, { page: Page }>;
