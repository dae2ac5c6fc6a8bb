import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const header =
  "EIN,NAME,ICO,STREET,CITY,STATE,ZIP,GROUP,SUBSECTION,AFFILIATION,CLASSIFICATION,RULING,DEDUCTIBILITY,FOUNDATION,ACTIVITY,ORGANIZATION,STATUS,TAX_PERIOD,ASSET_CD,INCOME_CD,FILING_REQ_CD,PF_FILING_REQ_CD,ACCT_PD,ASSET_AMT,INCOME_AMT,REVENUE_AMT,NTEE_CD,SORT_NAME";
const at = Object.fromEntries(header.split(",").map((name, column) => [name, column]));
/** Rows of a name's first word: one for each copy of the rows, so that copies are other organisations. */
const firstWords =
  "Harbor Summit Cedar Liberty Prairie Beacon Willow Granite Heritage Valley Lantern Meadow Anchor Orchard Compass River Juniper Horizon Maple Bridge Falcon Amber Canyon Delta Ember Forest Garden Haven Island Jasper".split(
    " ",
  );
const bytesPerWrite = 4 * 2 ** 20;
/** Copies of a row have neighbouring numbers, and every copy of a file is in rising order as the file is. */
const firstEin = 100_000_000;
const einsMax = 899_000_000;

/**
 * Writes one plain CSV file in the form of the IRS master file from which an import makes this many profiles: the real rows of
 * `folder` as often as it takes, each time with numbers and first words of their own, or made-up rows of the same shape when
 * it is null. The same arguments give the same bytes. Answers how many rows were written.
 */
export function writeRegisterRows(
  path: string,
  { profiles, folder }: { profiles: number; folder: string | null },
): number {
  const source = folder === null ? sampleRows(sampleRowsMax) : realRows(folder);
  const spacing = Math.floor(einsMax / source.length);
  const file = openSync(path, "w");
  let written = 0;
  let eligible = 0;
  let text = `${header}\n`;
  try {
    for (let copy = 0; eligible < profiles; copy++) {
      for (const [place, row] of source.entries()) {
        if (eligible === profiles) break;
        text += `${copyOf(row, firstEin + place * spacing + copy, copy)}\n`;
        written += 1;
        if (isEligible(row)) eligible += 1;
        if (text.length < bytesPerWrite) continue;
        writeSync(file, text);
        text = "";
      }
    }
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  return written;
}

type Row = readonly string[];

function copyOf(row: Row, ein: number, copy: number): string {
  const [first = "", ...rest] = (row[at["NAME"] ?? 1] ?? "").split(" ");
  const word = firstWords[(copy - 1) % firstWords.length]?.toUpperCase() ?? "";
  const name = copy === 0 ? [first, ...rest] : [word, ...(rest.length > 0 ? rest : [first])];
  return row
    .with(at["EIN"] ?? 0, String(ein))
    .with(at["NAME"] ?? 1, name.join(" "))
    .join(",");
}

const cell = (row: Row, name: string): string => row[at[name] ?? 0] ?? "";

/** Whether the import makes a profile of it. */
const isEligible = (row: Row): boolean =>
  cell(row, "SUBSECTION") === "03" &&
  cell(row, "STATUS") === "01" &&
  !["02", "03", "04"].includes(cell(row, "FOUNDATION")) &&
  cell(row, "NAME") !== "";

/** The rows of all files; the few with quotes are left out. */
function realRows(folder: string): Row[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".csv.gz"));
  const lines = files.toSorted().flatMap((name) =>
    gunzipSync(readFileSync(join(folder, name)))
      .toString()
      .split(/\r?\n/)
      .slice(1),
  );
  const rows = lines.filter((line) => line !== "" && !line.includes('"'));
  const split = rows.map((line) => line.split(","));
  return split.filter((row) => row.length === header.split(",").length);
}

const sampleRowsMax = 20_000;
const places = ["RENO,NV,89501", "BOISE,ID,83702", "TULSA,OK,74103", "SALEM,OR,97301"];
const whats = "COMMUNITY,YOUTH,ANIMAL,LIBRARY,GARDEN,FOOD,HOUSING,MUSIC,WATER,SCHOOL".split(",");
const kinds = "FOUNDATION,FRIENDS,ALLIANCE,SOCIETY,TRUST,NETWORK,CENTER,FUND".split(",");
const codes = "P20,O50,D20,B70,C42,K31,L41,A68,C32,B20".split(",");

const pick = <Item>(items: readonly Item[], nth: number): Item => items[nth % items.length] as Item;

/** Made-up rows, three of four eligible as in the real files. */
function sampleRows(count: number): Row[] {
  return Array.from({ length: count }, (_, nth) => {
    const [city = "", state = "", zip = ""] = pick(places, nth).split(",");
    const words = [pick(firstWords, nth * 7), nth, pick(whats, nth), pick(kinds, nth * 3)];
    const own: Record<string, string> = {
      NAME: words.join(" ").toUpperCase(),
      STREET: `${nth + 1} MAIN ST`,
      CITY: city,
      STATE: state,
      ZIP: zip,
      GROUP: "0000",
      SUBSECTION: nth % 4 === 3 ? "06" : "03",
      AFFILIATION: "3",
      CLASSIFICATION: "1000",
      RULING: "200305",
      DEDUCTIBILITY: "1",
      FOUNDATION: "15",
      ACTIVITY: "000000000",
      ORGANIZATION: "1",
      STATUS: "01",
      TAX_PERIOD: "202412",
      FILING_REQ_CD: "01",
      PF_FILING_REQ_CD: "0",
      ACCT_PD: "12",
      ASSET_AMT: String(nth * 137),
      INCOME_AMT: String(nth * 73),
      REVENUE_AMT: String(nth * 61),
      NTEE_CD: pick(codes, nth),
    };
    return header.split(",").map((name) => own[name] ?? "");
  });
}
