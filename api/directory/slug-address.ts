import { type Address, addresses } from "#content/contract/addresses.ts";
import { translationCodes } from "#content/language/languages.ts";
import { recordBySlug, summarisedById } from "#content/nonprofit/record-store.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { knownByOrgId } from "#content/register/standing-store.ts";
import type { Queryable } from "#content/store/open.ts";

/** All paths with a slug, in any language, except operators' own. Paths that end in a file type come first in the table. */
const slugPaths = Object.values<Address>(addresses)
  .filter(({ path }) => path.includes("{slug}") && !path.startsWith("/api/admin/"))
  .map(({ path }) => {
    const [before = "", after = ""] = path.split("{slug}");
    const rest = after.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^((?:/(?:${translationCodes}))?${before})([^/]+?)(${rest})$`);
  });

/** The right path for one that names a slug in capitals, or an id or register number in its place; else null. */
export async function slugAddress(store: Queryable, path: string): Promise<string | null> {
  const [, before = "", name = "", after = ""] =
    slugPaths.map((form) => form.exec(path)).find((match) => match !== null) ?? [];
  if (name === "") return null;
  const slug = await slugOf(store, decodeURIComponent(name));
  return slug === null || slug === name ? null : `${before}${encodeURIComponent(slug)}${after}`;
}

async function slugOf(store: Queryable, name: string): Promise<string | null> {
  const small = name.toLowerCase();
  if ((await recordBySlug(store, small)) !== null) return small;
  const id = /^[1-9]\d{0,11}$/.test(name) ? Number(name) : 0;
  const summary = (await summarisedById(store, [id])).get(id);
  if (summary !== undefined) return summary.slug;
  const number = readOrgId(name);
  if (!number.ok) return null;
  const [registration] = await knownByOrgId(store, [number.value.org_id]);
  return registration?.profile?.slug ?? null;
}
