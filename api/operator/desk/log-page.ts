import { placeWith, type Query, queryOf } from "#api/http/query.ts";
import { actions } from "#api/operator/actions.ts";
import { auditNames, readAudit } from "#content/operation/audit-store.ts";
import { auditTable, field, form, nextLink, notice } from "./layout.ts";
import { type Html, html } from "./html.ts";
import { type Page, refused, type Sent, type Shown, type Visit } from "./visit.ts";

const rowsPerPage = 100;

/** /desk/log: what operators did, by operator, action and subject. */
export async function logPage({ context, request }: Visit): Promise<Page> {
  const query = queryOf(request.url);
  const filter = filterIn(query);
  const page = { ...filter, before: query.number("before"), limit: rowsPerPage };
  const [log, names] = [await readAudit(context, page), await auditNames(context.store)];
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

const filterIn = (query: Query) => ({
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

type Typed = { agent_id?: string; slug?: string; agent_reason?: string; slug_reason?: string };

/** /desk/undo: undoing what the agreement of one agent made live, and taking back a verification. */
export async function undoPage(
  { request, token }: Visit,
  { said, status, typed = {} }: Shown & { typed?: Typed } = {},
): Promise<Page> {
  const query = queryOf(request.url);
  return {
    title: "Undo",
    place: "/desk/undo",
    status,
    main: html`<h1>Undo</h1>
      ${said}
      <div class="decide">
        ${form({
          action: "/desk/undo/agent",
          token,
          legend: "Undo an agent",
          fields: html`<p>
              Empties every field that this agent helped to make live and that no one else set
              since, rejects the submissions that agreed, and takes the credit back. Recommendations
              that rest on its vote end. The log of submissions stays, and so does prose that an
              operator accepted.
            </p>
            ${field({
              name: "agent_id",
              id: "agent",
              label: "Id of the agent, as reviews show it",
              value: typed.agent_id ?? query.text("agent") ?? "",
              required: true,
              lengthMax: 128,
            })}${field({
              name: "reason",
              id: "agent-reason",
              label: "Why: agents read this",
              value: typed.agent_reason,
              required: true,
              lengthMax: 500,
            })}`,
          button: "Undo all that it made live",
          danger: true,
        })}
        ${form({
          action: "/desk/undo/verification",
          token,
          legend: "Take back a verification",
          fields: html`<p>
              The profile becomes an unclaimed listing again. Contact and wallet go where the
              organisation had set them, and a held change of its wallet is stopped.
            </p>
            ${field({
              name: "slug",
              label: "Slug of the nonprofit",
              value: typed.slug ?? query.text("slug") ?? "",
              required: true,
              lengthMax: 200,
            })}${field({
              name: "reason",
              id: "slug-reason",
              label: "Why, for the log",
              value: typed.slug_reason,
              required: true,
              lengthMax: 500,
            })}
            <label class="choice"
              ><input type="checkbox" name="take_back_values" value="1" /> Empty mission, website
              and city, too, where the organisation set them</label
            >`,
          button: "Take it back",
          danger: true,
        })}
      </div>`,
  };
}

/** POST /desk/undo/agent. A part at a time: what is left is undone by sending the same once more. */
export async function undoAgent(visit: Sent): Promise<Page> {
  const { context, session, form: given } = visit;
  const body = { agent_id: given.text("agent_id"), reason: given.text("reason") };
  const typed = { agent_id: body.agent_id, agent_reason: body.reason };
  const asked = { operator: session.operator, params: {}, body };
  const done = await actions.revertAgent.perform(context, asked);
  if (!done.ok) {
    const unusable = "Give the id of the agent, and a reason of at most 500 characters.";
    return undoPage(visit, { ...refused(done.failure, unusable), typed });
  }
  const { agent_id, submissions, emptied, recommendations, complete } = done.value;
  const counts = `${submissions} submissions undone, ${emptied} fields emptied, ${recommendations} recommendations taken back.`;
  const rest = complete ? null : " There is more: send the form once more.";
  return undoPage(visit, {
    said: notice("good", html`<bdi>${agent_id}</bdi>: ${counts}${rest}`),
    ...(complete ? {} : { typed }),
  });
}

/** POST /desk/undo/verification. */
export async function undoVerification(visit: Sent): Promise<Page> {
  const { context, session, form: given } = visit;
  const typed = { slug: given.text("slug"), slug_reason: given.text("reason") };
  const unusable = "Give the slug of the nonprofit, and a reason of at most 500 characters.";
  if (typed.slug === "") {
    return undoPage(visit, { said: notice("bad", unusable), typed, status: 400 });
  }
  const done = await actions.revokeVerification.perform(context, {
    operator: session.operator,
    params: { slug: typed.slug },
    body: {
      reason: typed.slug_reason,
      take_back_values: given.text("take_back_values") === "1",
    },
  });
  if (!done.ok) return undoPage(visit, { ...refused(done.failure, unusable), typed });
  const { slug, taken_back, stopped_hold } = done.value;
  const taken =
    taken_back.length === 0
      ? "Nothing else was taken back."
      : `Taken back: ${taken_back.join(", ")}.`;
  const held = stopped_hold ? " A held change of its wallet is stopped." : null;
  return undoPage(visit, {
    said: notice("good", html`<bdi>${slug}</bdi> is no longer verified. ${taken}${held}`),
  });
}
