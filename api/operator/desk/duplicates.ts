import { z } from "zod";
import { Duplicate } from "#content/contract/onboarding.ts";
import { html, type Part } from "./html.ts";
import { profileLink, sent, table } from "./parts.ts";

const Duplicates = z.array(Duplicate).min(1);

const reasonWords: Readonly<Record<Duplicate["reasons"][number], string>> = {
  same_registration: "the same number in the same register",
  same_site: "the same site",
  near_name: "a near-same name in the same place",
};

/** Profiles that may be the same organisation, the likeliest first; nothing for reviews of other kinds. */
export function duplicateTable(duplicates: unknown): Part {
  const read = Duplicates.safeParse(duplicates);
  if (!read.success) return null;
  return html`<h2>Perhaps the same organisation</h2>
    ${table({
      columns: ["Profile", "City", "Why", "Names alike (0 to 1)"],
      rows: read.data.map(({ slug, name, city, status, reasons, name_similarity }) => [
        html`${profileLink(slug, name)}${status === "listed" ? null : html` <span class="quiet">(${status})</span>`}`,
        sent(city),
        reasons.map((reason) => reasonWords[reason]).join(", "),
        name_similarity.toFixed(2),
      ]),
    })}`;
}
