import { objectIn } from "#content/contract/json-object.ts";
import type { ReviewItem, ReviewKind } from "#content/contract/review.ts";
import { type Form, type Html, html, type Part, tokenField } from "./layout.ts";

/** What an operator typed, to be shown again when it could not be taken. */
export type Entered = { value: string; choice: string; reason: string; decision: string };

/** What the two decisions do, where their names alone would not say it. A hold ends by itself: no one can approve it. */
const meaning: Partial<Record<ReviewKind, { approve: string | null; reject: string }>> = {
  contested: { approve: "Approve: set this value", reject: "Reject: none of them" },
  revert: { approve: "Approve: empty the field", reject: "Reject: keep the value" },
  hold: { approve: null, reject: "Reject: stop the change" },
};

/** The two forms of a review: approve, with what may be edited, and reject, with a reason. */
export function reviewForms(review: ReviewItem, token: string, entered: Entered | null): Html {
  const action = `/desk/reviews/${encodeURIComponent(review.id)}`;
  const hidden = html`${tokenField(token)}<input
      type="hidden"
      name="after"
      value="${review.cursor}"
    />`;
  const typed = (decision: string): string =>
    entered?.decision === decision ? entered.reason : "";
  const approveForm = (legend: string): Html =>
    html`<form method="post" action="${action}">
      <fieldset>
        <legend>${legend}</legend>
        ${hidden}
        <input type="hidden" name="decision" value="approve" />
        ${editingFields(review, entered)}
        <label for="approve-reason">Why, for the log (may be left empty)</label>
        <input
          type="text"
          id="approve-reason"
          name="reason"
          maxlength="500"
          value="${typed("approve")}"
        />
        <button accesskey="a">Approve <kbd>a</kbd></button>
      </fieldset>
    </form>`;
  const { approve, reject } = meaning[review.kind] ?? { approve: "Approve", reject: "Reject" };
  return html`<h2>Decide</h2>
    <div class="decide">
      ${approve === null ? null : approveForm(approve)}
      <form method="post" action="${action}">
        <fieldset>
          <legend>${reject}</legend>
          ${hidden}
          <input type="hidden" name="decision" value="reject" />
          <label for="reject-reason">Why: the sender reads this <kbd>r</kbd></label>
          <textarea id="reject-reason" name="reason" required maxlength="500" accesskey="r">
${typed("reject")}</textarea>
          <button class="danger">Reject</button>
        </fieldset>
      </form>
    </div>
    <p>
      <a
        href="${action}/next?${new URLSearchParams({ after: review.cursor }).toString()}"
        accesskey="n"
        >Leave it, go to the next <kbd>n</kbd></a
      >
    </p>`;
}

const valueLengthMax = 10_000;

// A line break after <textarea> is no part of its text; without one, a text that begins with one would lose it.
function editingFields(review: ReviewItem, entered: Entered | null): Part {
  const { editing: edit } = review;
  if (edit === null) return null;
  const members = membersOf(review, entered?.decision === "approve" ? entered.value : "");
  if (members !== null) return members.map(memberField);
  const field = edit.field.replaceAll("_", " ");
  const value = entered?.decision === "approve" ? entered.value : (edit.current ?? "");
  if (edit.choices.length === 0) {
    return html`<label for="value">The ${field}, which you may edit <kbd>e</kbd></label>
      <textarea
        id="value"
        name="value"
        accesskey="e"
        rows="8"
        maxlength="${valueLengthMax}"
        dir="auto"
        ${edit.required ? html` required` : null}
      >
${value}</textarea>`;
  }
  return html`<p id="choices">The right ${field}:</p>
    <div role="radiogroup" aria-labelledby="choices">
      ${edit.choices.map(
        (choice, at) =>
          html`<label class="choice"
            ><input
              type="radio"
              name="choice"
              value="${choice}"
              ${entered?.choice === choice ? html` checked` : null}${at === 0 ? html` accesskey="e"` : null}
            />
            <bdi dir="auto">${choice}</bdi></label
          >`,
      )}
    </div>
    <label for="value">Or another value</label>
    <input
      type="text"
      id="value"
      name="value"
      maxlength="${valueLengthMax}"
      dir="auto"
      value="${value}"
    />`;
}

/** Members that hold sentences. */
const proseMembers: ReadonlySet<string> = new Set(["mission", "why_recommended", "description"]);

function memberField({ name, text, isList }: Member, at: number): Html {
  const id = nameOf(name);
  const key = at === 0 ? html` accesskey="e"` : null;
  const label = html`<label for="${id}"
    >${name.replaceAll("_", " ")}${isList ? ", one per line" : null}${at === 0 ? html` <kbd>e</kbd>` : null}</label
  >`;
  return isList || proseMembers.has(name)
    ? html`${label}<textarea
          id="${id}"
          name="${id}"
          rows="4"
          maxlength="${valueLengthMax}"
          dir="auto"
          ${key}
        >
${text}</textarea>`
    : html`${label}<input
          type="text"
          id="${id}"
          name="${id}"
          maxlength="${valueLengthMax}"
          dir="auto"
          value="${text}"
          ${key}
        />`;
}

/** A member of an object that can be edited, as a field of a form: a list has one entry a line. */
export type Member = { name: string; text: string; isList: boolean };

/** What approve takes as a JSON object in a text. No one at the desk writes JSON by hand. */
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
