import { objectIn } from "#content/contract/json-object.ts";
import type { ReviewItem } from "#content/contract/review.ts";
import type { Form } from "./form.ts";

/** A member of an object that can be edited, as a field of a form: a list has one entry a line. */
export type Member = { name: string; text: string; isList: boolean };

/** What approve takes as a JSON object in a text. Nobody at the desk writes JSON by hand. */
const kindsOfObjects: readonly ReviewItem["kind"][] = ["draft", "onboarding"];
const rowMembers: Readonly<Partial<Record<string, readonly string[]>>> = {
  programme: ["name", "description", "beneficiaries_per_year", "location"],
  impact_metric: ["name", "value", "unit", "period"],
};

/** What can be edited of such a review, or what was typed of it (`typed`, as approve takes it); null where one text is. */
export function membersOf({ kind, editing }: ReviewItem, typed = ""): Member[] | null {
  if (editing?.current == null) return null;
  const object = objectIn(typed === "" ? editing.current : typed);
  if (kindsOfObjects.includes(kind))
    return object === null ? null : Object.entries(object).map(memberOf);
  const names = kind === "prose" ? rowMembers[editing.field] : undefined;
  // A metric in plain text waits for somebody who tells its name from its value.
  const row: Record<string, unknown> | null =
    object ?? (editing.field === "impact_metric" ? { value: editing.current } : null);
  if (names === undefined || row === null) return null;
  return names.map((name) => memberOf([name, row[name]]));
}

function memberOf([name, value]: [string, unknown]): Member {
  if (Array.isArray(value)) return { name, text: value.join("\n"), isList: true };
  const isShown = typeof value === "string" || typeof value === "number";
  return { name, text: isShown ? String(value) : "", isList: false };
}

/** The edited value of a review in a form, as approve takes it; "" when nothing of it was changed. */
export function editedIn(form: Form, review: ReviewItem | null): string {
  const members = review === null ? null : membersOf(review);
  if (members === null) return form.text("value");
  const typed = members.map(({ name, text }) =>
    form.has(nameOf(name)) ? form.text(nameOf(name)) : text,
  );
  if (members.every(({ text }, at) => typed[at] === text.trim())) return "";
  const values = members.map(({ name, isList }, at) => {
    const text = typed[at] ?? "";
    return [name, isList ? linesOf(text) : text || null];
  });
  return JSON.stringify(Object.fromEntries(values));
}

const linesOf = (text: string): string[] => text.split("\n").flatMap((line) => line.trim() || []);

/** How a member is called in the form. */
export const nameOf = (member: string): string => `value.${member}`;
