import { type WebhookDelivery, webhookStatuses } from "#content/contract/webhook.ts";
import { readDeliveries, resendDelivery, testWebhooks } from "#api/webhooks/deliveries.ts";
import { refusalOf } from "#api/http/problem.ts";
import { queryOf } from "#api/http/query.ts";
import { webhookRefusals } from "#api/operator/routes.ts";
import { testPost } from "#api/webhooks/post.ts";
import {
  type Form,
  type Html,
  type Part,
  html,
  instant,
  notice,
  sent,
  table,
  tokenField,
} from "./layout.ts";
import type { Page, Visit } from "./visit.ts";

const rowsPerPage = 50;

/** /desk/webhooks: what was sent, what waits, and what failed. */
export async function webhooksPage(
  visit: Visit,
  shown: { said?: Part; status?: number } = {},
): Promise<Page> {
  const { context, request, token } = visit;
  const query = queryOf(request.url);
  const asked = query.choice("status", { values: webhookStatuses, fallback: null });
  const before = query.number("before");
  const status = asked.ok ? asked.value : null;
  const page = { status, before: before.ok ? before.value : null, limit: rowsPerPage };
  const log = await readDeliveries(
    { store: context.store, urls: context.config.webhookUrls },
    page,
  );
  const older = new URLSearchParams({
    ...(status === null ? {} : { status }),
    before: String(log.next),
  });
  return {
    title: "Webhooks",
    place: "/desk/webhooks",
    status: shown.status ?? 200,
    main: html`<h1>Webhooks</h1>
      ${shown.said}
      ${log.urls.length === 0 ? html`<p>Webhooks are off: ALMONER_WEBHOOK_URLS lists no address, so nothing is sent.</p>` : receivers(log.urls, token)}
      <p>
        ${log.pending.toLocaleString("en")} on their way, ${log.failed.toLocaleString("en")} given
        up.
      </p>
      <nav aria-label="Status">
        <ul>
          <li>${filterLink(null, status)}</li>
          ${webhookStatuses.map((one) => html`<li>${filterLink(one, status)}</li>`)}
        </ul>
      </nav>
      ${log.count === 0 ? html`<p>The log has no such deliveries.</p>` : deliveryTable(log.deliveries, token)}
      ${
        log.next === null
          ? null
          : html`<p>
              <a href="/desk/webhooks?${older.toString()}" rel="next" accesskey="n"
                >Older <kbd>n</kbd></a
              >
            </p>`
      }`,
  };
}

const filterLink = (status: WebhookDelivery["status"] | null, current: string | null): Html =>
  html`<a
    href="/desk/webhooks${status === null ? null : `?status=${status}`}"
    ${status === current ? html` aria-current="true"` : null}
    >${status ?? "all"}</a
  >`;

const receivers = (urls: readonly string[], token: string): Html =>
  html`<form method="post" action="/desk/webhooks">
    <fieldset>
      <legend>Receivers</legend>
      ${tokenField(token)}
      <input type="hidden" name="what" value="test" />
      <ul>
        ${urls.map((url) => html`<li>${sent(url)}</li>`)}
      </ul>
      <button accesskey="a">Test them <kbd>a</kbd></button>
    </fieldset>
  </form>`;

const deliveryTable = (deliveries: readonly WebhookDelivery[], token: string): Html =>
  table({
    caption: "Newest first; finished deliveries are kept for 30 days",
    columns: ["Number", "Message", "To", "Status", "Last answer", "Again"],
    rows: deliveries.map((one) => [
      html`${one.id}
        <div>${instant(one.created_at)}</div>`,
      html`${one.type}
        <div>${sent(one.event_id)}</div>`,
      sent(one.url),
      html`<span class="${one.status === "failed" ? "outcome-failed" : "quiet"}"
          >${one.status} after ${one.attempts}</span
        >${one.due_at === null ? null : html`<div>next ${instant(one.due_at)}</div>`}`,
      html`${one.answered_status} ${sent(one.answer)}`,
      one.status === "pending" ? null : resendForm(one, token),
    ]),
  });

const resendForm = ({ id }: WebhookDelivery, token: string): Html =>
  html`<form method="post" action="/desk/webhooks">
    ${tokenField(token)} <input type="hidden" name="what" value="resend" /><input
      type="hidden"
      name="delivery"
      value="${id}"
    />
    <button aria-label="Send ${id} again">Send</button>
  </form>`;

/** POST /desk/webhooks: tests all receivers, or sends one message again. */
export async function webhooksForm(visit: Visit & { form: Form }): Promise<Page> {
  const { context, session, form } = visit;
  const { store, clock, config, secrets } = context;
  const verb = { store, clock, urls: config.webhookUrls, post: testPost(secrets, clock) };
  const { operator } = session;
  const outcome =
    form.text("what") === "test"
      ? await testWebhooks(verb, operator)
      : await resendDelivery(verb, { id: Number(form.text("delivery")) || 0, operator });
  if (!outcome.ok) {
    const { status, detail } = refusalOf(webhookRefusals, outcome.failure);
    return webhooksPage(visit, { said: notice("bad", detail), status });
  }
  if (!("deliveries" in outcome.value)) {
    return webhooksPage(visit, { said: notice("good", "It is on its way again.") });
  }
  const { count, deliveries } = outcome.value;
  const heard = deliveries.filter(({ status }) => status === "delivered").length;
  const said = notice(
    heard === count ? "good" : "bad",
    `${heard} of ${count} receivers took the message.`,
  );
  return webhooksPage(visit, { said });
}
