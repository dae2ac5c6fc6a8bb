import type { SearchQuery } from "#content/contract/search.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { filteredOf, passes } from "#content/nonprofit/filters.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { comparedNumber, readOrgId } from "#content/register/org-id.ts";
import type { Queryable } from "#content/store/open.ts";

/** Numbers of other registers that are looked up have at least this many characters, and a digit. */
const numberLengthMin = 4;
const numberLengthMax = 40;
/** Registers that are not known may give one number to several. */
const namesakesMax = 20;

/** Digits that stand alone may be words of a name, too: "1736 Family Crisis Center". */
const mayBeWord = (text: string): boolean => /^\d{1,8}$/.test(text.trim());

/**
 * The nonprofit whose register number a query is, alone, if it passes the filters; null when the query is no number. An
 * unmistakable number that no one has gives nothing. Index: registrations_org_id, registrations_without_org_id.
 */
export async function numberedPage(
  store: Queryable,
  { q, filters, offset }: SearchQuery,
): Promise<{ total: number; ids: number[]; number: string } | null> {
  const number = numberIn(q ?? "", filters.country);
  if (number === null) return null;
  const { rows } = await store.raw.execute({
    sql: number.isOrgId ? withOrgId : withoutOrgId,
    args: { number: number.text },
  });
  const records = await recordsById(
    store,
    rows.map((row) => Number(row["id"])),
  );
  const match = records.find((record) => passes(filteredOf(record), filters));
  if (match !== undefined) {
    return { total: 1, ids: offset === 0 ? [match.id] : [], number: number.text };
  }
  return number.isOrgId && !mayBeWord(q ?? "") ? { total: 0, ids: [], number: number.text } : null;
}

/** The number that a text is: an org-id, or one of a register that is not known, as it is compared. */
function numberIn(text: string, country: string | null): { text: string; isOrgId: boolean } | null {
  if (!/\d/.test(text) || text.length > numberLengthMax) return null;
  const read = readOrgId(text, countryCode(country ?? "") ?? undefined);
  if (read.ok) return { text: read.value.org_id, isOrgId: true };
  const compared = comparedNumber(text);
  return compared.length < numberLengthMin ? null : { text: compared, isOrgId: false };
}

// SQL, not drizzle: one prepared statement on the way of every query with a digit in it.
const numbered = (condition: string) => `
  SELECT r.nonprofit_id AS id
  FROM registrations AS r
  JOIN listings AS l ON l.nonprofit_id = r.nonprofit_id AND l.list = 'all'
  WHERE ${condition}
  LIMIT ${namesakesMax}`;

const withOrgId = numbered("r.org_id = $number");

/** In the very words of the index. */
const withoutOrgId = numbered(`r.org_id IS NULL AND
  upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', '')) = $number`);
