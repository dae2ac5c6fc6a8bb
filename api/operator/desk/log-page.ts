import { placeWith, queryIn, textIn } from "#api/http/query.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { auditNames, readAudit } from "#content/operation/audit-store.ts";
import { type Html, html } from "#content/language/html.ts";
import { actionForm, type Sent, type FormNotice, type Visit } from "./visit.ts";
import { form, reasonField, slugField } from "./forms.ts";
import type { Page } from "./layout.ts";
import { auditTable, nextLink, notice } from "./elements.ts";

const rowsPerPage = 100;

/** /desk/log: what operators did, by operator, action and subject. */
export async function logPage({ context, request }: Visit): Promise<Page> {
  const { before, limit: _, ...filter } = queryIn(request, operatorOperations.readAuditLog);
  const log = await readAudit(context, { ...filter, before, limit: rowsPerPage });
  const names = await auditNames(context.store);
  const older = placeWith("/desk/log", { ...filter, before: log.next });
  return {
    title: "Log",
    place: "/desk/log",
    main: html`<h1>Log</h1>
      <form method="get" action="/desk/log" class="filter">
        <label>Operator ${choice("operator", names.operators, filter.operator)}</label>
        <label>Action ${choice("action", names.actions, filter.action)}</label>
        <label
          >Subject
          <input type="text" name="subject" value="${filter.subject ?? ""}" maxlength="300"
        /></label>
        <button>Show</button>
      </form>
      ${log.count === 0 ? html`<p>The log has no such entries.</p>` : auditTable(log.entries, "Newest first; entries are never deleted")}
      ${log.next === null ? null : html`<p>${nextLink(older, "Older")}</p>`}`,
  };
}

const choice = (name: string, values: readonly string[], chosen: string | undefined): Html =>
  html`<select name="${name}">
    <option value="">any</option>
    ${values.map(
      (value) =>
        html`<option value="${value}" ${value === chosen ? html` selected` : null}>
          ${value}
        </option>`,
    )}
  </select>`;

/** /desk/undo: undoing what the agreement of one agent made live, and taking back a verification. */
export async function undoPage(visit: Visit, { said, status }: FormNotice = {}): Promise<Page> {
  const { token } = visit;
  const agent = typedIn(visit, "agent_id", "agent");
  const nonprofit = typedIn(visit, "slug", "slug");
  return {
    title: "Undo",
    place: "/desk/undo",
    status,
    main: html`<h1>Undo</h1>
      ${said}
      <div class="decide">
        ${form({
          name: "undo_agent",
          action: "/desk/undo/agent",
          token,
          textOf: (name) => (name === "agent_id" ? agent.id : visit.form?.text(name)),
          reason: agent.reason,
        })}
        ${form({
          name: "undo_verification",
          action: "/desk/undo/verification",
          token,
          fields: html`${slugField({ label: "Slug of the nonprofit", value: nonprofit.id })}${reasonField(
              {
                id: "slug-reason",
                label: "Why, for the log",
                value: nonprofit.reason,
              },
            )}
            <label class="choice"
              ><input type="checkbox" name="keep_values" value="1" /> Keep mission, website, city
              and country, as the organisation set them</label
            >`,
        })}
      </div>`,
  };
}

/** What stands in a form with this field: what was sent of it, or the parameter of a link to it. */
function typedIn({ form: given, request }: Visit, name: string, parameter: string) {
  if (given?.has(name) !== true) return { id: textIn(request, parameter) ?? "" };
  return { id: given.text(name), reason: given.text("reason") };
}

/** POST /desk/undo/agent. A part at a time: what is left is undone by sending the same once more. */
export const undoAgent = actionForm("undo_agent", {
  page: undoPage,
  done: (visit, { agent_id, submissions, emptied, recommendations, complete }) => {
    const counts = `${submissions} submissions undone, ${emptied} fields emptied, ${recommendations} recommendations taken back.`;
    const rest = complete ? null : " There is more: send the form once more.";
    const said = html`<bdi>${agent_id}</bdi>: ${counts}${rest}`;
    return complete ? undone(visit, said) : undoPage(visit, { said: notice("good", said) });
  },
});

export const undoVerification = actionForm("undo_verification", {
  page: undoPage,
  params: ({ form: { text } }) => ({ slug: text("slug") }),
  body: ({ form: { text } }) => ({ take_back_values: text("keep_values") !== "1" }),
  done: (visit, { slug, taken_back, put_back, stopped_hold }) => {
    const taken =
      taken_back.length === 0
        ? "Nothing else was taken back."
        : `Taken back: ${taken_back.join(", ")}.`;
    const back =
      put_back.length === 0 ? null : ` What was there before is back: ${put_back.join(", ")}.`;
    const held = stopped_hold ? " A held wallet is stopped." : null;
    return undone(visit, html`<bdi>${slug}</bdi> is no longer verified. ${taken}${back}${held}`);
  },
});

const undone = (visit: Sent, said: Html): Promise<Page> =>
  undoPage({ ...visit, form: null }, { said: notice("good", said) });
