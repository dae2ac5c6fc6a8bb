import type { Candidate } from "#content/contract/reconciliation.ts";
import {
  batchFitting,
  type RowMatch,
  readTable,
  tableColumnsMax,
  type Table,
  type TableQuery,
  tableText,
  writtenTable,
} from "#content/reconciliation/table.ts";
import { el, part } from "./dom.ts";
import { sayingOf } from "./texts.ts";

const bytesMax = 10_000_000;
const triesMax = 5;
/** The service accepts 64 KiB, of which a non-Latin letter takes nine bytes. */
const bodyBytesMax = 60_000;

const form = part("#match") as HTMLFormElement;
const input = part("#match-table") as HTMLInputElement;
const statusLine = part("#match-said");
const bar = part("#match-progress") as HTMLProgressElement;
const result = part("#match-result");
const { rows: rowsMax, batch: batchMax } = form.dataset;
const text = sayingOf(form);
let running = false;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const [file] = input.files ?? [];
  if (file !== undefined) void start(file);
});
for (const kind of ["dragover", "drop"] as const) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (kind === "drop" && file !== undefined) void start(file);
  });
}

async function start(file: File): Promise<void> {
  if (running) return;
  running = true;
  result.hidden = true;
  try {
    statusLine.textContent = await matched(file);
  } catch {
    statusLine.textContent = text("away");
  } finally {
    running = false;
    bar.hidden = true;
  }
}

/** Matches a file batch by batch, offers the result, and returns the words to show. */
async function matched(file: File): Promise<string> {
  if (file.size > bytesMax) return text("too_large");
  const read = readTable(tableText(await file.arrayBuffer()), Number(rowsMax));
  if (!read.ok) return text(read.failure, { most: Number(rowsMax), columns: tableColumnsMax });
  const { queries } = read.value;
  bar.hidden = false;
  bar.max = queries.length;
  const matches: RowMatch[] = [];
  while (matches.length < queries.length) {
    bar.value = matches.length;
    statusLine.textContent = text("progress", { done: matches.length, count: queries.length });
    const open = queries.slice(matches.length, matches.length + Number(batchMax));
    matches.push(...(await matchesOf(open.slice(0, batchFitting(open, bodyBytesMax)))));
  }
  offer(read.value, matches, file.name);
  const done = matches.filter(({ best }) => best?.match === true).length;
  return text("matched", { done, count: queries.length });
}

async function matchesOf(queries: readonly TableQuery[]): Promise<RowMatch[]> {
  // A row without a name and number matches no one.
  const batch = queries.map((query, at) => [`q${at}`, query] as const);
  const answer = (await ask("queries", Object.fromEntries(batch))) as Record<
    string,
    { result: Candidate[] }
  >;
  const best = batch.map(([key]) => answer[key]?.result[0]);
  const ids = best.flatMap((match) => (match?.match === true ? match.id : []));
  const numbers = { ids, properties: [{ id: "org_id" }] };
  const { rows } = (await ask("extend", numbers)) as {
    rows: Record<string, { org_id?: { str: string }[] }>;
  };
  return best.map((match) => ({
    best: match,
    orgIds: (rows[match?.id ?? ""]?.org_id ?? []).map(({ str }) => str),
  }));
}

/** Asks the directory; when it refuses because of too many requests, waits as long as it says and tries again. */
async function ask(kind: "queries" | "extend", what: object): Promise<unknown> {
  for (let tried = 1; ; tried++) {
    const body = new URLSearchParams({ [kind]: JSON.stringify(what) });
    const response = await fetch("/reconcile", { method: "POST", body });
    if (response.ok) return response.json();
    const waitS = Number(response.headers.get("retry-after") ?? 0);
    if (waitS === 0 || tried === triesMax) throw new Error(`answered ${response.status}`);
    statusLine.textContent = text("wait", { count: waitS });
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
  }
}

function offer(table: Table, matches: readonly RowMatch[], name: string): void {
  // The byte order mark tells spreadsheets that it is UTF-8.
  const file = new Blob([`\uFEFF${writtenTable(table, matches)}`], { type: "text/csv" });
  const download = name.replace(/(\.\w+)?$/, (ending) => `-matched${ending || ".csv"}`);
  const link = el("a", { href: URL.createObjectURL(file), download }, [
    text("download", { file: download }),
  ]);
  result.replaceChildren(link);
  result.hidden = false;
}
