import type { Candidate } from "#content/contract/reconciliation.ts";
import { directoryOperations } from "#content/contract/operations/directory.ts";
import { reconciliationOperations } from "#content/contract/operations/reconciliation.ts";
import { matchFrom } from "#content/reconciliation/match.ts";
import { type Answer, type Ask, answerTo, callOf } from "./call.ts";
import type { Given } from "./arguments.ts";

const [notFound, gone] = [404, 410];

/** The profile of the nonprofit with this slug, id, register number, page here, website or name. */
export async function profileNamed(ask: Ask, text: string, origin: string): Promise<Answer> {
  const slug = slugAt(text, origin) ?? text.trim();
  const answer = await profileOf(ask, slug);
  if (answer.status !== notFound) return answer;
  const candidates = await candidatesFor(ask, slug);
  const [first] = candidates;
  return first?.match === true ? profileOf(ask, first.id) : withNearest(answer, candidates);
}

const profileOf = (ask: Ask, slug: string) =>
  answerTo(ask, callOf(directoryOperations.getNonprofit, { slug }));

/** What registers say of an organisation, by its number or however else it is called. */
export async function standingNamed(ask: Ask, given: Given, origin: string): Promise<Answer> {
  const standingOf = (org_id: unknown) =>
    answerTo(ask, callOf(directoryOperations.getOrganisation, { ...given, org_id }));
  const answer = await standingOf(given["org_id"]);
  if (answer.ok || answer.status > gone) return answer;
  const profile = await profileNamed(ask, String(given["org_id"]), origin);
  if (!profile.ok) return profile.value["nearest"] === undefined ? answer : profile;
  const { slug, identifiers } = profile.value;
  const [number] = Array.isArray(identifiers) ? identifiers : [];
  if (number !== undefined) return standingOf(number);
  const detail = `No register number of ${String(slug)} is known here: get_nonprofit has what is known of it.`;
  return { ok: false, status: notFound, value: { code: "no_register_number", detail } };
}

/** A refusal of a slug that no one has, with whom it may mean. */
export const nearestNamed = async (ask: Ask, answer: Answer, slug: unknown): Promise<Answer> =>
  answer.value["code"] === "nonprofit_not_found"
    ? withNearest(answer, await candidatesFor(ask, String(slug)))
    : answer;

function withNearest(answer: Answer, candidates: readonly Candidate[]): Answer {
  const nearest = candidates.map(({ id, name, description }) => ({
    slug: id,
    name,
    place: description,
  }));
  if (nearest.length === 0) return answer;
  const isSure = (candidates[0]?.score ?? 0) >= matchFrom;
  const [code, found] = isSure
    ? ["several_nonprofits", "Several may be meant"]
    : ["nonprofit_not_found", "No nonprofit here is called that"];
  return {
    ...answer,
    value: { code, detail: `${found}: send the slug of one of \`nearest\`.`, nearest },
  };
}

const candidatesMax = 5;

/** By what a text is looked for: a website alone, or a name, slug or register number. */
function conditionsFor(text: string) {
  const property = (propertyId: string) => ({
    matchType: "property",
    propertyId,
    propertyValue: text,
  });
  if (/^\S+\.\p{L}{2,}(?:[/?#]\S*)?$/u.test(text)) return [property("website")];
  return [
    { matchType: "name", propertyValue: text.replaceAll(/[-_]+/g, " ") },
    { matchType: "id", propertyValue: text.toLowerCase() },
    property("org_id"),
  ];
}

async function candidatesFor(ask: Ask, text: string): Promise<readonly Candidate[]> {
  const body = { queries: [{ conditions: conditionsFor(text), limit: candidatesMax }] };
  const { ok, value } = await answerTo(ask, callOf(reconciliationOperations.matchNames, body));
  const results = value["results"] as { candidates: Candidate[] }[] | undefined;
  return (ok && results?.[0]?.candidates) || [];
}

/** The slug in the address of a page here; null for what is none. */
function slugAt(text: string, origin: string): string | null {
  const url = URL.parse(text.trim());
  if (url === null || url.origin !== origin) return null;
  const [, slug] =
    /\/(?:nonprofits|give|donate|history)\/([^/]+?)(?:\.\w+)?\/?$/.exec(url.pathname) ?? [];
  return slug ?? null;
}
