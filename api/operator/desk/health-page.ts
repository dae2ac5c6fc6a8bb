import type { OperatorHealth } from "#content/contract/operations.ts";
import { operatorHealth } from "#api/operator/operator-health.ts";
import { healthContext } from "#api/operator/health-context.ts";
import { notice } from "./frame.ts";
import { html, type Html, type Part } from "./html.ts";
import { instant } from "./parts.ts";
import type { Page, Visit } from "./visit.ts";

/** /desk/health: what an operator looks at first. */
export async function healthPage({ context }: Visit): Promise<Page> {
  const health = await operatorHealth(healthContext(context));
  return {
    title: "Health",
    place: "/desk/health",
    main: html`<h1>Health</h1>
      ${warnings(health)}
      <p class="quiet">As of ${instant(health.at)}.</p>
      <table>
        <tbody>
          ${row("Publishing", publication(health))} ${row("Chain", chain(health))}
          ${row("Backup", backup(health))} ${row("Refused by rate limits", refused(health))}
          ${row("Store", store(health))} ${row("Webhooks", webhooks(health))}
        </tbody>
      </table>`,
  };
}

const warnings = ({ warnings: found }: OperatorHealth): Part =>
  found.length === 0
    ? notice("good", "All is well.")
    : notice("bad", html`${found.map((one) => html`<span>${one}</span><br />`)}`);

const row = (name: string, value: Part): Html =>
  html`<tr>
    <th scope="row">${name}</th>
    <td>${value}</td>
  </tr>`;

function publication({ publication: found }: OperatorHealth): Part {
  if (found === null) return "Nothing is published beside this process: ask the publisher.";
  const { release, profiles_behind, lists_behind, oldest_waiting_s, failures } = found;
  const waited =
    oldest_waiting_s === null ? "" : ` The oldest has waited for ${oldest_waiting_s} s.`;
  return `Release ${release}. Profiles are ${profiles_behind} changes behind, lists ${lists_behind}.${waited} ${failures} pages could not be rendered.`;
}

function chain({ chain: found }: OperatorHealth): Part {
  if (found === null) return "No chain is open in this process.";
  const { cluster, answers, took_ms, why } = found;
  return answers
    ? `${cluster} answered within ${took_ms} ms.`
    : html`${cluster} did not answer: ${why}`;
}

const backup = ({ backup: found }: OperatorHealth): Part =>
  found === null ? "No backup is known." : html`The last one is of ${instant(found.at)}.`;

function refused({ refused: { hours, requests } }: OperatorHealth): Part {
  const found = Object.entries(requests);
  if (found.length === 0) return `None in the last ${hours} hours.`;
  return html`<ul>
      ${found.map(([name, count]) => html`<li>${name}: ${count.toLocaleString("en")}</li>`)}
    </ul>
    In the last ${hours} hours.`;
}

const megabytes = (bytes: number | null): string =>
  bytes === null ? "an unknown size" : `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;

const store = ({ store: { bytes, free_bytes, newest_change } }: OperatorHealth): Part =>
  `${megabytes(bytes)}, ${newest_change.toLocaleString("en")} changes. The disk has ${megabytes(free_bytes)} left.`;

const webhooks = ({ webhooks: { receivers, pending, failed } }: OperatorHealth): Part =>
  receivers === 0
    ? "Off."
    : html`${receivers} receivers, ${pending} messages on their way, ${failed} given up.
        <a href="/desk/webhooks">The log</a>`;
