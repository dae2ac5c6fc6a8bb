import { refusalOf } from "#api/http/problem.ts";
import { type Query, queryOf } from "#api/http/query.ts";
import { auditNames, readAudit } from "#content/operation/audit-store.ts";
import { revertAgent } from "#api/operator/revert.ts";
import { revokeVerification } from "#api/operator/revoke-verification.ts";
import { revertedPerRequest, revokeRefusals } from "#api/operator/routes.ts";
import { RevokeBody } from "#content/contract/onboarding.ts";
import { RevertBody } from "#content/contract/review.ts";
import { auditTable, type Form, type Html, html, notice, type Part, tokenField } from "./layout.ts";
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
      ${log.count === 0 ? html`<p>The log has no such entries.</p>` : auditTable(log.entries, "Newest first; entries are never deleted")}
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

type Typed = { agent_id?: string; slug?: string; agent_reason?: string; slug_reason?: string };
type Shown = { said?: Part; typed?: Typed; status?: number };

/** /desk/undo: undoing what the agreement of one agent made live, and taking back a verification. */
export async function undoPage({ request, token }: Visit, shown: Shown = {}): Promise<Page> {
  const query = queryOf(request.url);
  const { said = null, status = 200 } = shown;
  const typed = {
    agent_id: query.text("agent") ?? "",
    slug: query.text("slug") ?? "",
    ...shown.typed,
  };
  return {
    title: "Undo",
    place: "/desk/undo",
    status,
    main: html`<h1>Undo</h1>
      ${said}
      <div class="decide">
        <form method="post" action="/desk/undo/agent">
          <fieldset>
            <legend>Undo an agent</legend>
            ${tokenField(token)}
            <p>
              Empties every field that this agent helped to make live and that no one else set
              since, rejects the submissions that agreed, and takes the credit back. Recommendations
              that rest on its vote end. The log of submissions stays, and so does prose that an
              operator accepted.
            </p>
            <label for="agent">Id of the agent, as reviews show it</label>
            <input
              type="text"
              id="agent"
              name="agent_id"
              required
              maxlength="128"
              value="${typed.agent_id}"
            />
            <label for="agent-reason">Why: agents read this</label>
            <input
              type="text"
              id="agent-reason"
              name="reason"
              required
              maxlength="500"
              value="${typed.agent_reason ?? ""}"
            />
            <button class="danger">Undo all that it made live</button>
          </fieldset>
        </form>
        <form method="post" action="/desk/undo/verification">
          <fieldset>
            <legend>Take back a verification</legend>
            ${tokenField(token)}
            <p>
              The profile becomes an unclaimed listing again. Contact and wallet go where the
              organisation had set them, and a held change of its wallet is stopped.
            </p>
            <label for="slug">Slug of the nonprofit</label>
            <input
              type="text"
              id="slug"
              name="slug"
              required
              maxlength="200"
              value="${typed.slug}"
            />
            <label for="slug-reason">Why, for the log</label>
            <input
              type="text"
              id="slug-reason"
              name="reason"
              required
              maxlength="500"
              value="${typed.slug_reason ?? ""}"
            />
            <label class="choice"
              ><input type="checkbox" name="take_back_values" value="1" /> Empty mission, website
              and city, too, where the organisation set them</label
            >
            <button class="danger">Take it back</button>
          </fieldset>
        </form>
      </div>`,
  };
}

/** POST /desk/undo/agent. A part at a time: what is left is undone by sending the same once more. */
export async function undoAgent(visit: Visit & { form: Form }): Promise<Page> {
  const { context, session, form } = visit;
  const typed = { agent_id: form.text("agent_id"), agent_reason: form.text("reason") };
  const read = RevertBody.safeParse({ agent_id: typed.agent_id, reason: typed.agent_reason });
  if (!read.success) {
    const said = notice("bad", "Give the id of the agent, and a reason of at most 500 characters.");
    return undoPage(visit, { said, typed, status: 400 });
  }
  const { agent_id: agent, reason } = read.data;
  const asked = { agent, reason, operator: session.operator, submissionsMax: revertedPerRequest };
  const done = await revertAgent(context, asked);
  const { submissions, emptied, recommendations, complete, agent_id } = done;
  if (recommendations > 0) context.curated.lookAgain();
  const counts = `${submissions} submissions undone, ${emptied} fields emptied, ${recommendations} recommendations taken back.`;
  const rest = complete ? null : " There is more: send the form once more.";
  return undoPage(visit, {
    said: notice("good", html`<bdi>${agent_id}</bdi>: ${counts}${rest}`),
    ...(complete ? {} : { typed }),
  });
}

/** POST /desk/undo/verification. */
export async function undoVerification(visit: Visit & { form: Form }): Promise<Page> {
  const { context, session, form } = visit;
  const typed = { slug: form.text("slug"), slug_reason: form.text("reason") };
  const read = RevokeBody.safeParse({ reason: typed.slug_reason });
  if (!read.success || typed.slug === "") {
    const said = notice(
      "bad",
      "Give the slug of the nonprofit, and a reason of at most 500 characters.",
    );
    return undoPage(visit, { said, typed, status: 400 });
  }
  const outcome = await revokeVerification(context, {
    slug: typed.slug,
    operator: session.operator,
    reason: read.data.reason,
    takeBackValues: form.text("take_back_values") === "1",
  });
  if (!outcome.ok) {
    const { status, detail } = refusalOf(revokeRefusals, outcome.failure);
    return undoPage(visit, { said: notice("bad", detail), typed, status });
  }
  const { slug, taken_back, stopped_hold } = outcome.value;
  const taken =
    taken_back.length === 0
      ? "Nothing else was taken back."
      : `Taken back: ${taken_back.join(", ")}.`;
  const held = stopped_hold ? " A held change of its wallet is stopped." : null;
  return undoPage(visit, {
    said: notice("good", html`<bdi>${slug}</bdi> is no longer verified. ${taken}${held}`),
  });
}
