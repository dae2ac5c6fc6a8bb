import { dailyNumbers, daysDefault, daysMax } from "#api/operator/daily-numbers.ts";
import { queryOf } from "#api/http/query.ts";
import { chart } from "./chart.ts";
import { html } from "./html.ts";
import type { Page, Visit } from "./visit.ts";

const spans = [7, 30, 90, daysMax] as const;

/** /desk/charts: what happened over time. */
export async function chartsPage({ context, request }: Visit): Promise<Page> {
  const asked = queryOf(request.url).number("days");
  // One day alone makes no line.
  const count = Math.min(Math.max((asked.ok ? asked.value : null) ?? daysDefault, 2), daysMax);
  const numbers = await dailyNumbers(context, count);
  const { days } = numbers;
  const drawn = (
    id: string,
    title: string,
    series: readonly (readonly [string, readonly number[]])[],
  ) => chart({ id, title, days, series: series.map(([name, values]) => ({ name, values })) });
  return {
    title: "Charts",
    place: "/desk/charts",
    main: html`<h1>The last ${count} days</h1>
      <nav aria-label="Days">
        <ul>
          ${spans.map((span) => html`<li><a href="/desk/charts?days=${span}" ${span === count ? html` aria-current="page"` : null}>${span} days</a></li>`)}
        </ul>
      </nav>
      <p class="quiet">Days are those of UTC; the last one is today so far.</p>
      <div class="charts">
        ${drawn("enrichment", "Enrichment", [
          ["sent by agents", numbers.submissions],
          ["live at once", numbers.applied],
        ])}
        ${drawn("queries", "Queries", [
          ["searches", numbers.searches],
          ["recommendations", numbers.recommendations],
          ["searches over MCP", numbers.mcp_searches],
        ])}
        ${drawn("recommendations", "Recommendations and what followed within a minute", [
          ["recommendations", numbers.recommendations],
          ["profiles opened", numbers.profiles_opened],
          ["payments asked for", numbers.donate_requests],
        ])}
        ${drawn("donations", "Donations", [["donations", numbers.donations]])}
        ${drawn("donated", "Donated, in USDC", [["USDC", numbers.donated_usdc]])}
        ${drawn("refused", "Requests refused by a rate limit", [["refused", numbers.refused]])}
      </div>`,
  };
}
