import { auditNames } from "#content/operation/audit-log.ts";
import { readAudit } from "#api/operator/audit.ts";
import { type Query, queryOf } from "#api/http/query.ts";
import { html, type Html, type Part } from "./html.ts";
import { auditTable } from "./parts.ts";
import type { Page, Visit } from "./visit.ts";

const rowsPerPage = 100;

/** /desk/log: what operators did, by operator, action and subject. */
export async function logPage({ context, request }: Visit): Promise<Page> {
  const query = queryOf(request.url);
  const before = query.number("before");
  const filter = filterIn(query);
  const page = { ...filter, before: before.ok ? before.value : null, limit: rowsPerPage };
  const [log, names] = [await readAudit(context, page), await auditNames(context.store)];
  const older = olderPage(filter, log.next);
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
      ${log.count === 0 ? html`<p>Nothing of this kind stands in the log.</p>` : auditTable(log.entries, "The newest first; nothing is ever taken out of it")}
      ${older}`,
  };
}

type Filter = { operator: string | null; action: string | null; subject: string | null };

const filterIn = (query: Query): Filter => ({
  operator: query.text("operator", 64),
  action: query.text("action", 64),
  subject: query.text("subject", 300),
});

const choice = (name: string, values: readonly string[], chosen: string | null): Html =>
  html`<select name="${name}">
    <option value="">any</option>
    ${values.map(
      (value) =>
        html`<option value="${value}" ${value === chosen ? html` selected` : null}>
          ${value}
        </option>`,
    )}
  </select>`;

function olderPage(filter: Filter, next: number | null): Part {
  if (next === null) return null;
  const given = Object.entries(filter).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]],
  );
  const search = new URLSearchParams([...given, ["before", String(next)]]);
  return html`<p>
    <a href="/desk/log?${search.toString()}" rel="next" accesskey="n">Older <kbd>n</kbd></a>
  </p>`;
}
