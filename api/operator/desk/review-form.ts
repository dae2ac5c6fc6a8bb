import { placeWith } from "#api/http/query.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { ImpactMetric, Program } from "#content/contract/nonprofit.ts";
import { queueWords, type ReviewItem } from "#content/contract/review.ts";
import { html, type Html, type Part } from "#content/language/html.ts";
import { field, form, type Form, linesOf, typedText } from "./forms.ts";

/** The two forms of a review: approve, with what may be edited, and reject, with a reason; `sent` is shown again. */
export function reviewForms(review: ReviewItem, token: string, sent: Form | null): Html {
  const { id, kind, cursor: after } = review;
  const { approve, reject } = queueWords[kind];
  const action = `/desk/reviews/${encodeURIComponent(id)}`;
  const formOf = (decision: "approve" | "reject") => {
    const typed = sent?.text("decision") === decision ? sent : null;
    return {
      typed,
      shown: {
        name: decision,
        action,
        token,
        hidden: { after, decision },
        reason: typed?.text("reason"),
      },
    };
  };
  const { typed, shown } = formOf("approve");
  return html`<h2>Decide</h2>
    <div class="decide">
      ${approve === null ? null : form({ ...shown, legend: approve, fields: editingFields(review, typed) })}
      ${form({ ...formOf("reject").shown, legend: reject })}
    </div>
    <p>
      <a href="${placeWith(`${action}/next`, { after })}" accesskey="n"
        >Leave it, go to the next <kbd>n</kbd></a
      >
    </p>`;
}

const lengthMax = 10_000;

function editingFields(review: ReviewItem, typed: Form | null): Part {
  const { editing } = review;
  if (editing === null) return null;
  const members = membersOf(review);
  if (members !== null) {
    return members.map(({ name, text, isList }, at) =>
      field({
        name: fieldOf(name),
        label: `${name.replaceAll("_", " ")}${isList ? ", one per line" : ""}`,
        value: typedText(typed, fieldOf(name), text),
        ...(isList || proseMembers.has(name) ? { rows: 4 } : {}),
        lengthMax,
        key: at === 0 ? "e" : undefined,
      }),
    );
  }
  const { choices, current, required } = editing;
  const name = editing.field.replaceAll("_", " ");
  const value = typed?.text("value") ?? current ?? "";
  if (choices.length === 0) {
    const label = `The ${name}, which you may edit`;
    // An emptied field would be approved as it was sent.
    const needed = required || current !== null;
    return field({ name: "value", label, value, rows: 8, required: needed, lengthMax, key: "e" });
  }
  return html`<p id="choices">The right ${name}:</p>
    <div role="radiogroup" aria-labelledby="choices">
      ${choices.map(
        (choice, at) =>
          html`<label class="choice"
            ><input
              type="radio"
              name="choice"
              value="${choice}"
              ${typed?.text("choice") === choice ? html` checked` : null}${at === 0 ? html` accesskey="e"` : null}
            />
            <bdi dir="auto">${choice}</bdi></label
          >`,
      )}
    </div>
    ${field({ name: "value", label: "Or another value", value, lengthMax })}`;
}

const proseMembers: ReadonlySet<string> = new Set(["mission", "why_recommended", "description"]);

/** A member of an object that can be edited, as a field of a form: a list has one entry a line. */
type Member = { name: string; text: string; isList: boolean };

/** Members of the fields that approve takes as a JSON object: no one at the desk writes JSON by hand. */
const rowMembers: Readonly<Partial<Record<string, readonly string[]>>> = {
  programme: Object.keys(Program.shape),
  impact_metric: Object.keys(ImpactMetric.shape),
};

/** What can be edited of such a review; null where one text is. */
function membersOf({ kind, editing }: ReviewItem): Member[] | null {
  if (editing?.current == null) return null;
  const object = objectIn(editing.current);
  if (queueWords[kind].edits_members)
    return object === null ? null : Object.entries(object).map(memberOf);
  const names = rowMembers[editing.field];
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

const fieldOf = (member: string): string => `value.${member}`;

/** What approve is called with: an edited text, the value typed beside the choices, or the choice; null as it stands. */
export function valueIn(given: Form, review: ReviewItem | null): string | null {
  const value = editedIn(given, review) || given.text("choice");
  const unchanged = value === (review?.editing?.current ?? "").replaceAll(/\r\n?/g, "\n").trim();
  return value === "" || unchanged ? null : value;
}

/** The edited value of a review in a form, as approve takes it; "" when nothing of it was changed. */
function editedIn(given: Form, review: ReviewItem | null): string {
  const members = review === null ? null : membersOf(review);
  if (members === null) return given.text("value");
  const typed = members.map(({ name, text, isList }) => {
    const now = typedText(given, fieldOf(name), text.trim());
    return { name, isChanged: now !== text.trim(), value: isList ? linesOf(now) : now || null };
  });
  if (!typed.some(({ isChanged }) => isChanged)) return "";
  return JSON.stringify(Object.fromEntries(typed.map(({ name, value }) => [name, value])));
}
