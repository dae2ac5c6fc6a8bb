import { scaleLinear, scaleUtc } from "d3-scale";
import { line } from "d3-shape";
import { queryIn } from "#api/http/query.ts";
import { dailyNumbers, operatorHealth } from "#api/operator/health.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import { type DailyNumbers, daysLimit, type OperatorHealth } from "#content/contract/operator.ts";
import { instant, linkList, notice, table } from "./layout.ts";
import { type Html, html, type Part } from "#api/http/html.ts";
import type { Page } from "./answer.ts";
import type { Visit } from "./visit.ts";

/** /desk/health: what an operator looks at first. */
export async function healthPage({ context }: Visit): Promise<Page> {
  const health = await operatorHealth(context);
  return {
    title: "Health",
    place: "/desk/health",
    main: html`<h1>Health</h1>
      ${warnings(health)}
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
          ["Webhooks", webhooks(health)],
        ],
      })}`,
  };
}

const warnings = ({ warnings: found }: OperatorHealth): Part =>
  found.length === 0
    ? notice("good", "All is well.")
    : notice("bad", html`${found.map((one) => html`<span>${one}</span><br />`)}`);

function publication({ publication: found }: OperatorHealth): Part {
  if (found === null) return "Nothing is published beside this process: ask the publisher.";
  const { release, profiles_behind, lists_behind, oldest_waiting_s, failures } = found;
  const waited =
    oldest_waiting_s === null ? "" : ` The oldest has waited for ${oldest_waiting_s} s.`;
  return `Release ${release}. Profiles are ${profiles_behind} changes behind, lists ${lists_behind}.${waited} ${failures} pages could not be rendered.`;
}

function chain({ chain: found }: OperatorHealth): Part {
  if (found === null) return "No chain is open in this process.";
  const { cluster, answers, took_ms, why, nodes, disagreements } = found;
  const answered = answers ? `answered within ${took_ms} ms.` : `did not answer: ${why}.`;
  const believed =
    nodes > 1
      ? `${nodes} nodes are asked, and two have to agree before a gift is recorded${nodes === 2 ? ", so that none may be down: name a third" : ""}. They contradicted each other ${disagreements} times in the last 24 hours.`
      : "One node is asked, and believed whatever it says: if it lies, gifts that never were are recorded and signed. Name three, on different hosts, in ALMONER_SOLANA_RPC_URLS.";
  return `${cluster} ${answered} ${cluster === "local" ? "" : believed}`;
}

function sponsor({ sponsor: found }: OperatorHealth): Part {
  if (found === null) return "None: donors pay the network fee.";
  const { address, balance_lamports, spent_lamports, budget_lamports, runway_days } = found;
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

const backup = ({ backup: found }: OperatorHealth): Part =>
  found === null
    ? "No backup has been recorded."
    : html`The last one was made on ${instant(found.at)}.`;

function refused({ refused: { hours, requests } }: OperatorHealth): Part {
  const found = Object.entries(requests);
  if (found.length === 0) return `None in the last ${hours} hours.`;
  return html`<ul>
      ${found.map(([name, count]) => html`<li>${name}: ${count.toLocaleString("en")}</li>`)}
    </ul>
    In the last ${hours} hours.`;
}

const signIns = ({ access: { hours, failed_sign_ins } }: OperatorHealth): string =>
  `${failed_sign_ins} failed in the last ${hours} hours.`;

const megabytes = (bytes: number | null): string =>
  bytes === null ? "an unknown size" : `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;

const store = ({ store: { bytes, free_bytes, newest_change } }: OperatorHealth): Part =>
  `${megabytes(bytes)}, ${newest_change.toLocaleString("en")} changes. The disk has ${megabytes(free_bytes)} left.`;

const webhooks = ({ webhooks: { receivers, pending, failed } }: OperatorHealth): Part =>
  receivers === 0
    ? "Off."
    : html`${receivers} receivers, ${pending} messages on their way, ${failed} given up.
        <a href="/desk/webhooks">The log</a>`;

const spans = [7, 30, 90, daysLimit.max] as const;

/** /desk/charts: what happened over time. */
export async function chartsPage({ context, request }: Visit): Promise<Page> {
  const { days = daysLimit.default } = queryIn(request.url, operatorOperations.getDailyNumbers);
  // One day alone makes no line.
  const count = Math.max(days, 2);
  const numbers = await dailyNumbers(context, { days: count });
  return {
    title: "Charts",
    place: "/desk/charts",
    main: html`<h1>The last ${count} days</h1>
      ${linkList(
        "Days",
        spans.map((span) => ({
          place: `/desk/charts?days=${span}`,
          text: `${span} days`,
          current: span === count,
        })),
      )}
      <p class="quiet">Days are in UTC; the last one is today so far.</p>
      <div class="charts">${charts.map((one) => chart(one, numbers))}</div>`,
  };
}

/** Numbers by day, drawn as lines over the same days. At most three, so that each looks different. */
type Chart = {
  id: string;
  title: string;
  lines: Readonly<Record<string, Exclude<keyof DailyNumbers, "days">>>;
};

const charts: readonly Chart[] = [
  {
    id: "enrichment",
    title: "Enrichment",
    lines: { "sent by agents": "submissions", "live at once": "applied" },
  },
  {
    id: "queries",
    title: "Queries",
    lines: {
      searches: "searches",
      recommendations: "recommendations",
      "searches over MCP": "mcp_searches",
    },
  },
  {
    id: "recommendations",
    title: "Recommendations and what followed within a minute",
    lines: {
      recommendations: "recommendations",
      "profiles opened": "profiles_opened",
      "payments asked for": "donate_requests",
    },
  },
  { id: "donations", title: "Donations", lines: { donations: "donations" } },
  { id: "donated", title: "Donated, in USDC", lines: { USDC: "donated_usdc" } },
  { id: "refused", title: "Requests refused by a rate limit", lines: { refused: "refused" } },
];

const width = 720;
const height = 220;
const edge = { top: 12, right: 12, bottom: 28, left: 56 };
const ticksDown = 4;
const ticksAcross = 6;

/** A picture for those who see it, and the same numbers as a table for everyone. */
function chart({ id, title, lines }: Chart, numbers: DailyNumbers): Html {
  const shown = Object.entries(lines).map(([name, column]) => ({ name, values: numbers[column] }));
  const sums = shown.map(
    ({ name, values }) => `${name}: ${readable(values.reduce((a, b) => a + b, 0))}`,
  );
  return html`<figure>
    <figcaption id="${id}-title">${title}</figcaption>
    <svg
      class="chart"
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
      role="img"
      aria-labelledby="${id}-title ${id}-sums"
    >
      ${drawing(
        numbers.days,
        shown.map(({ values }) => values),
      )}
    </svg>
    <ul class="legend" id="${id}-sums">
      ${sums.map((text, at) => html`<li class="series-${at}">${text}</li>`)}
    </ul>
    <details>
      <summary>As a table</summary>
      ${table({
        kind: "numbers",
        caption: title,
        columns: ["Day", ...shown.map(({ name }) => name)],
        rows: numbers.days.map((day, at) => [
          day,
          ...shown.map(({ values }) => readable(values[at] ?? 0)),
        ]),
      })}
    </details>
  </figure>`;
}

/** The grid, with numbers and days at its edges, and a line for each series of values. */
function drawing(days: readonly string[], series: readonly (readonly number[])[]): Part {
  const instants = days.map((day) => new Date(`${day}T00:00:00Z`));
  const x = scaleUtc()
    .domain([instants[0] ?? 0, instants.at(-1) ?? 0])
    .range([edge.left, width - edge.right]);
  const y = scaleLinear()
    .domain([0, Math.max(1, ...series.flat())])
    .nice()
    .range([height - edge.bottom, edge.top]);
  const dayName = x.tickFormat(ticksAcross, "%d %b");
  const pathOf = (values: readonly number[]) =>
    line<Date>()
      .x((day) => x(day))
      .y((_, at) => y(values[at] ?? 0))
      .digits(1)(instants);
  return [
    y
      .ticks(ticksDown)
      .map(
        (value) =>
          html`<line
              class="grid"
              x1="${edge.left}"
              x2="${width - edge.right}"
              y1="${y(value)}"
              y2="${y(value)}"
            ></line>
            <text x="${edge.left - 8}" y="${y(value) + 4}" text-anchor="end"
              >${readable(value)}</text
            >`,
      ),
    x
      .ticks(ticksAcross)
      .map(
        (at) =>
          html`<text x="${x(at)}" y="${height - 8}" text-anchor="middle">${dayName(at)}</text>`,
      ),
    series.map((values, at) => html`<path class="series-${at}" d="${pathOf(values)}"></path>`),
  ];
}

const readable = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: 2 });
