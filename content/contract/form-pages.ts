import type { CorrectionField, CorrectionStatus } from "./correction.ts";
import type { NonprofitDetail, NonprofitSummary } from "./nonprofit.ts";
import type { HostProof, OnboardingStatus } from "./onboarding.ts";
import type { Wrong } from "./problem.ts";

/** The content of a refused form, which the form shows again. */
export type SentForm = {
  values: Readonly<Record<string, string>>;
  /** Errors by field name. */
  wrongs: readonly Wrong[];
  /** The refusal of the whole form if no field is wrong. */
  refusal: { code: string; detail: string } | null;
};

/** The step that searches for the profile of a form; `q` is null before the first search. */
export type FindStep = {
  step: "find";
  q: string | null;
  total: number;
  found: readonly NonprofitSummary[];
};

/** A form about a profile. `key` identifies one submission of it. */
type FillStep<Profile> = { step: "fill"; profile: Profile; sent: SentForm | null; key: string };

/** The result of a link or button of a status page: its kind and the API's English text; null if the API has none. */
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

/** The status of a submission, for anyone who has the secret of its link; null if there is none. */
type StatusOf<Status> = {
  status: Status | null;
  secret: string;
  notice: Statement | null;
  /** The median wait, in days, of recently decided submissions; null when there are too few. */
  usualDays: number | null;
};

/** The status when nothing is known for the reader's link. */
export const unknownStatus = { status: null, secret: "", notice: null, usualDays: null } as const;

/** What the service passes to a page of a form. The site renders it with its own words and layout. */
export type FormPage =
  | ({ page: "/onboard" } & (FindStep | FillStep<NonprofitDetail | null>))
  | ({ page: "/corrections" } & (
      | FindStep
      | { step: "field"; profile: NonprofitDetail }
      | (FillStep<NonprofitDetail> & { field: CorrectionField })
    ))
  /** `code` comes from a link in a mail; "" for none. `mails`: whether the sender is notified by mail. */
  | ({ page: "/onboard/status"; code: string; mails: boolean } & StatusOf<OnboardingStatus>)
  /** `name`: the organisation that the profile is about. */
  | ({ page: "/corrections/status"; name: string } & StatusOf<CorrectionStatus>)
  /** `waitS`: seconds until trying again makes sense. `sent`: a form was sent, and the browser still has its content. */
  | {
      page: "/refusal";
      status: number;
      code: string;
      detail: string;
      waitS: number | null;
      sent: boolean;
    };

/** What the service passes to one of these pages. */
export type FormPageOf<Page extends FormPage["page"]> = Extract<FormPage, { page: Page }>;
