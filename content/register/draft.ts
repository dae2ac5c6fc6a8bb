import type { NonprofitFields } from "#content/nonprofit/record.ts";

/**
 * What one row of a register says of one organisation. A field that is present is provided by the register (null or
 * empty: it says that there is none); a field that is absent is none of its business.
 */
export type RegisterDraft = {
  /** The org-id by which it is recognised, for example US-EIN-530196605. */
  org_id: string;
  fields: Partial<NonprofitFields>;
  /** What its slug is made of when it is new; the name in most cases. */
  slug_name: string;
  /** Where a reader can look the row up. */
  source_url: string | null;
};

/** How a register's drafts are taken into the directory. */
export type RegisterTerms = {
  /** The import format, for example irs-bmf. */
  register: string;
  /** The part of the register, for example eo_nv. */
  scope: string;
  /** True when the register lists organisations; false when it only adds to known ones. */
  lists: boolean;
};
