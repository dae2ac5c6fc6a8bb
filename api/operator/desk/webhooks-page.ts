import { actions } from "#api/operator/actions.ts";
import { placeWith, queryIn } from "#api/http/query.ts";
import { readDeliveries } from "#api/webhooks/deliveries.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { type WebhookDelivery, webhookStatuses } from "#content/contract/webhook.ts";
import { form, instant, linkList, nextLink, notice, sent, table, tokenField } from "./layout.ts";
import { type Html, html } from "#api/http/html.ts";
import type { Page } from "./answer.ts";
import { perform, refused, type Sent, type Shown, type Visit } from "./visit.ts";

const rowsPerPage = 50;

/** /desk/webhooks: what was sent, what waits, and what failed. */
export async function webhooksPage(visit: Visit, shown: Shown = {}): Promise<Page> {
  const { context, request, token } = visit;
  const query = queryIn(request.url, operatorOperations.readWebhookLog);
  const { status } = query;
  const log = await readDeliveries(context, { ...query, limit: rowsPerPage });
  const { urls, pending, failed, next } = log;
  return {
    title: "Webhooks",
    place: "/desk/webhooks",
    status: shown.status,
    main: html`<h1>Webhooks</h1>
      ${shown.said}
      ${urls.length === 0 ? html`<p>Webhooks are off: ALMONER_WEBHOOK_URLS lists no address, so nothing is sent.</p>` : receivers(urls, token)}
      <p>${pending.toLocaleString("en")} on their way, ${failed.toLocaleString("en")} given up.</p>
      ${linkList(
        "Status",
        [undefined, ...webhookStatuses].map((one) => ({
          place: placeWith("/desk/webhooks", { status: one }),
          text: one ?? "all",
          current: one === status,
        })),
      )}
      ${log.count === 0 ? html`<p>The log has no such deliveries.</p>` : deliveryTable(log.deliveries, token)}
      ${next === null ? null : html`<p>${nextLink(placeWith("/desk/webhooks", { status, before: next }), "Older")}</p>`}`,
  };
}

const receivers = (urls: readonly string[], token: string): Html =>
  form({
    action: "/desk/webhooks",
    token,
    legend: "Receivers",
    hidden: { what: "test" },
    fields: html`<ul>
      ${urls.map((url) => html`<li>${sent(url)}</li>`)}
    </ul>`,
    button: "Test them",
    key: "a",
  });

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
export async function webhooksForm(visit: Sent): Promise<Page> {
  const { text } = visit.form;
  if (text("what") !== "test") {
    const params = { delivery: text("delivery") };
    const queued = await perform(visit, actions.resendWebhook, { params });
    const said = notice("good", "It is on its way again.");
    return webhooksPage(visit, queued.ok ? { said } : refused(queued.failure));
  }
  const tested = await perform(visit, actions.testWebhooks, { params: {} });
  if (!tested.ok) return webhooksPage(visit, refused(tested.failure));
  const { count, deliveries } = tested.value;
  const heard = deliveries.filter(({ status }) => status === "delivered").length;
  const words = `${heard} of ${count} receivers took the message.`;
  return webhooksPage(visit, { said: notice(heard === count ? "good" : "bad", words) });
}
