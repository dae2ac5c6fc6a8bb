import { placeWith, queryIn, textIn } from "#api/http/query.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { hasSubmitted } from "#content/enrichment/agent-key-store.ts";
import { auditNames, readAudit } from "#content/operation/audit-store.ts";
import { type Html, html } from "#content/language/html.ts";
import type { FormNotice, Forms, Visit } from "./visit.ts";
import { form } from "./forms.ts";
import type { Page } from "./layout.ts";
import { auditTable, nextLink, notice } from "./elements.ts";

const rowsPerPage = 100;

/** /desk/log: the audit log, filtered by operator, action and subject. */
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

/** /desk/undo: undoes what one agent's agreement made live, or takes back a verification. */
export async function undoPage(visit: Visit, { message, status }: FormNotice = {}): Promise<Page> {
  const linked = (name: string) => textIn(visit.request, name);
  return {
    title: "Undo",
    place: "/desk/undo",
    status,
    main: html`<h1>Undo</h1>
      ${message}
      <div class="decide">
        ${form("revertAgent", visit, { stored: { agent_id: linked("agent") } })}
        ${form("revokeVerification", visit, { stored: { slug: linked("slug") } })}
      </div>`,
  };
}

export const undoForms = {
  /** Undoes a part at a time; sending the form again continues. */
  revertAgent: {
    page: undoPage,
    done: async (visit, { agent_id, submissions, emptied, recommendations, complete }) => {
      const isNone = submissions + recommendations === 0;
      if (isNone && !(await hasSubmitted(visit.context.store, agent_id ?? ""))) {
        const why = html`No submission of an agent <bdi>${agent_id}</bdi> exists: nothing was
          undone.`;
        return undoPage(visit, { message: notice("bad", why), status: 404 });
      }
      const counts = `${submissions} submissions undone, ${emptied} fields emptied, ${recommendations} recommendations taken back.`;
      const rest = complete ? null : " There is more: send the form once more.";
      const sentence = html`<bdi>${agent_id}</bdi>: ${counts}${rest}`;
      return complete
        ? undone(visit, sentence)
        : undoPage(visit, { message: notice("good", sentence) });
    },
  },
  revokeVerification: {
    page: undoPage,
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
  },
} satisfies Partial<Forms>;

const undone = (visit: Visit, message: Html): Promise<Page> =>
  undoPage({ ...visit, form: null }, { message: notice("good", message) });
