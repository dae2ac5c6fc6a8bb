import { queryIn } from "#api/http/query.ts";
import { operatorHealth, operatorNumbers } from "#api/operator/health.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import {
  type DailyNumbers,
  daysLimit,
  type FunnelGroup,
  type OperatorNumbers,
  type OperatorHealth,
} from "#content/contract/operator.ts";
import deskCharts from "#content/editorial/desk-charts.json";
import { type Chart, chartsOf, drawCharts, shownCell } from "#content/statistics/charts.ts";
import { storedCharts } from "#content/statistics/charts-store.ts";
import { Html, html, type Part } from "#content/language/html.ts";
import type { Visit } from "./visit.ts";
import type { Page } from "./layout.ts";
import { instant, notice, table } from "./elements.ts";

/** /desk/health: the facts that an operator needs first. */
export async function healthPage({ context }: Visit): Promise<Page> {
  const health = await operatorHealth(context);
  return {
    title: "Health",
    place: "/desk/health",
    main: html`<h1>Health</h1>
      ${warningsNotice(health.warnings)}
      <p class="quiet">As of ${instant(health.at)}.</p>
      ${table({
        kind: "facts",
        columns: [],
        rows: [
          ["Publishing", publication(health)],
          ["Chain", chain(health)],
          ["Sponsor", sponsor(health)],
          ["Donations", donations(health)],
          ["Registers", registers(health)],
          ["Backup", backup(health)],
          ["Refused by rate limits", refused(health)],
          ["Sign-ins", signIns(health)],
          ["Store", store(health)],
        ],
      })}`,
  };
}

/** What an operator should attend to, or that all is well. */
export const warningsNotice = (warnings: OperatorHealth["warnings"]): Html =>
  warnings.length === 0
    ? notice("good", "All is well.")
    : notice("bad", html`${warnings.map((warning) => html`<span>${warning}</span><br />`)}`);

function publication({ publication: value }: OperatorHealth): Part {
  if (value === null) return "Nothing is published beside this process: ask the publisher.";
  const { release, profiles_behind, lists_behind, oldest_waiting_s, failures } = value;
  const waitText =
    oldest_waiting_s === null ? "" : ` The oldest has waited for ${oldest_waiting_s} s.`;
  return `Release ${release}. Profiles are ${profiles_behind} changes behind, lists ${lists_behind}.${waitText} ${failures} pages could not be rendered.`;
}

function chain({ chain: value }: OperatorHealth): Part {
  if (value === null) return "No chain is open in this process.";
  const { cluster, answers, took_ms, why, nodes, disagreements } = value;
  const answerText = answers ? `answered within ${took_ms} ms.` : `did not answer: ${why}.`;
  const doubtText =
    nodes > 1
      ? `${nodes} nodes are asked, and two have to agree before a gift is recorded${nodes === 2 ? ", so that none may be down: name a third" : ""}. They contradicted each other ${disagreements} times in the last 24 hours.`
      : "One node is asked, and believed whatever it says: if it lies, gifts that never were are recorded and signed. Name three, on different hosts, in ALMONER_SOLANA_RPC_URLS.";
  return `${cluster} ${answerText} ${cluster === "local" ? "" : doubtText}`;
}

function sponsor({ sponsor: value }: OperatorHealth): Part {
  if (value === null) return "None: donors pay the network fee.";
  const { address, balance_lamports, spent_lamports, budget_lamports, runway_days } = value;
  const sol = (lamports: number) => `${lamports / 1e9} SOL`;
  const balance = balance_lamports === null ? "an unknown balance" : sol(balance_lamports);
  const lasts =
    runway_days === null ? "" : ` At the pace of the last week it lasts ${runway_days} days.`;
  return `${address} has ${balance}. In the last 24 hours it paid ${sol(spent_lamports)} of at most ${sol(budget_lamports)}.${lasts}`;
}

const donations = ({ donations: { voided, newest_voided } }: OperatorHealth): Part =>
  newest_voided === null
    ? "None was voided in the last 30 days."
    : html`${voided} recorded gifts vanished from the chain in the last 30 days and were voided.
        <a href="${newest_voided}">The newest</a>`;

const registers = ({ registers: fetched }: OperatorHealth): Part =>
  fetched.length === 0
    ? "None was fetched: bun run import <register> --fetch."
    : fetched
        .map(
          ({ register, fetched_at, problem }) =>
            `${register} was ${problem === null ? "fetched" : "tried and failed"} on ${fetched_at.slice(0, 10)}.`,
        )
        .join(" ");

const backup = ({ backup: value }: OperatorHealth): Part =>
  value === null
    ? "No backup has been recorded."
    : html`The last one was made on ${instant(value.at)}.`;

function refused({ refused: { hours, requests } }: OperatorHealth): Part {
  const requestCounts = Object.entries(requests);
  if (requestCounts.length === 0) return `None in the last ${hours} hours.`;
  return html`<ul>
      ${requestCounts.map(([name, count]) => html`<li>${name}: ${count.toLocaleString("en")}</li>`)}
    </ul>
    In the last ${hours} hours.`;
}

const signIns = ({ access: { hours, failed_sign_ins } }: OperatorHealth): string =>
  `${failed_sign_ins} failed in the last ${hours} hours.`;

const megabytes = (bytes: number | null): string =>
  bytes === null ? "an unknown size" : `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;

const store = ({ store: { bytes, free_bytes, newest_change } }: OperatorHealth): Part =>
  `${megabytes(bytes)}, ${newest_change.toLocaleString("en")} changes. The disk has ${megabytes(free_bytes)} left.`;

const spans = [7, 30, 90, daysLimit.max] as const;

/** /desk/charts: activity over time, and the charts of the public statistics page. */
export async function chartsPage({ context, request }: Visit): Promise<Page> {
  const { days = daysLimit.default } = queryIn(request, operatorOperations.getDailyNumbers);
  // A single day makes no line.
  const count = Math.max(days, 2);
  const numbers = await operatorNumbers(context, { days: count });
  const directory = chartsOf(await storedCharts(context.store)).map((chart) => ({
    ...chart,
    names: chart.columns.map(({ name }) => name),
    cells: chart.rows.map((row) =>
      chart.columns.map((column, at) => shownCell(column, row[at] ?? "")),
    ),
  }));
  return {
    title: "Charts",
    place: "/desk/charts",
    main: html`<h1>The last ${count} days</h1>
      <nav aria-label="Days">
        <ul>
          ${spans.map((span) => html`<li><a href="/desk/charts?days=${span}" ${span === count ? html` aria-current="page"` : null}>${span} days</a></li>`)}
        </ul>
      </nav>
      <p class="quiet">Days are in UTC; the last one is today so far.</p>
      ${await chartsOfDays(numbers)} ${funnel(numbers)}
      <h2>The directory</h2>
      <p class="quiet">As on the public page of statistics, counted every quarter of an hour.</p>
      ${await figures(directory)}`,
  };
}

function funnel({ funnel: groups, opened_by_rank }: OperatorNumbers): Html {
  const ranks = opened_by_rank.map(
    ({ rank, opened }) => `${rank ?? "not recommended"}: ${readable(opened)}`,
  );
  return html`<section id="funnel">
    <h2>What recommendations led to</h2>
    ${table({
      kind: "numbers",
      columns: ["Calls of", "All", "Answered", ...steps.map(([name]) => name), "USDC"],
      rows: groups.map((group) => [
        `${group.by} ${group.value}`.trim(),
        readable(group.calls),
        readable(group.answered),
        ...steps.map(([, step]) => withShare(group[step], group.answered)),
        readable(group.given_usdc),
      ]),
    })}
    <p class="quiet">
      Shares are of the answered calls. Profiles opened by their rank:
      ${ranks.length === 0 ? "none" : ranks.join(", ")}.
    </p>
  </section>`;
}

const steps = [
  ["Profile opened", "profile"],
  ["Payment asked for", "donate"],
  ["Donation", "donation"],
] as const satisfies readonly (readonly [string, keyof FunnelGroup])[];

const withShare = (count: number, of: number): string =>
  of === 0 ? readable(count) : `${readable(count)} (${((100 * count) / of).toFixed(1)} %)`;

const figures = async (charts: readonly Figure[]): Promise<Html> =>
  html`<div class="charts">${(await drawCharts(charts)).map(figure)}</div>`;

/** Charts of these days: all of them, or those with these ids. */
export const chartsOfDays = (numbers: DailyNumbers, ids?: readonly string[]): Promise<Html> =>
  figures(
    daily.filter(({ id }) => ids?.includes(id) ?? true).map((chart) => figureOf(chart, numbers)),
  );

/** A chart of daily numbers as lines: at most three, so that each looks different. */
type Daily = {
  id: string;
  title: string;
  lines: Readonly<Record<string, Exclude<keyof DailyNumbers, "days">>>;
};

const daily = deskCharts as readonly Daily[];

type Figure = Pick<Chart, "title" | "about" | "drawing"> & {
  id: string;
  names: readonly string[];
  cells: readonly string[][];
};

function figureOf({ id, title, lines }: Daily, numbers: DailyNumbers): Figure {
  const columns = Object.entries(lines).map(([name, column]) => ({
    name,
    values: numbers[column],
  }));
  const sums = columns.map(({ name, values }) => ({
    name,
    sum: values.reduce((a, b) => a + b, 0),
  }));
  const { days } = numbers;
  return {
    id,
    title,
    about: sums.map(({ name, sum }) => `${name}: ${readable(sum)}`).join(", "),
    drawing: sums.every(({ sum }) => sum === 0)
      ? null
      : { kind: "lines", at: days, lines: columns, open: true },
    names: ["Day", ...columns.map(({ name }) => name)],
    cells: days.map((day, at) => [day, ...columns.map(({ values }) => readable(values[at] ?? 0))]),
  };
}

/** A picture, and the same numbers as a table for everyone; a sentence if all are zero. */
const figure = (chart: Figure & { narrow: string; wide: string }): Html =>
  html`<figure class="chart" id="${chart.id}">
    <figcaption>${chart.title}</figcaption>
    ${
      chart.drawing === null
        ? html`<p class="quiet">Nothing to draw.</p>`
        : html`<p class="quiet">${chart.about}</p>
            <div class="narrow-chart">${new Html(chart.narrow)}</div>
            <div class="wide-chart">${new Html(chart.wide)}</div>
            <details>
              <summary>As a table</summary>
              ${table({
                kind: "numbers",
                caption: chart.title,
                columns: chart.names,
                rows: chart.cells,
              })}
            </details>`
    }
  </figure>`;

const readable = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: 2 });
