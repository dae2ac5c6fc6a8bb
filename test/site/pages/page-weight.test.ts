import { expect, test } from "bun:test";
import { openListIndex } from "#content/find/browse-store.ts";
import { profile, profileKey } from "#site/documents/profile.ts";
import { aRenderer, siteBaseUrl, textOf } from "#test/support/compiled-site.ts";
import { anImporting } from "#test/support/importing.ts";

const columns =
  "EIN,NAME,ICO,STREET,CITY,STATE,ZIP,GROUP,SUBSECTION,AFFILIATION,CLASSIFICATION,RULING,DEDUCTIBILITY,FOUNDATION,ACTIVITY,ORGANIZATION,STATUS,TAX_PERIOD,ASSET_CD,INCOME_CD,FILING_REQ_CD,PF_FILING_REQ_CD,ACCT_PD,ASSET_AMT,INCOME_AMT,REVENUE_AMT,NTEE_CD,SORT_NAME";
/** Typical rows as the IRS publishes them, without their streets: a club, one with figures, a team, and a church with a long name. */
const rows = [
  "475215574,GREENWICH BAY WOMENS CLUB,,,E GREENWICH,RI,02818,0000,03,3,1000,201602,1,16,000000000,5,01,202508,0,0,02,0,08,0,0,0,S81,",
  "933631582,SAGE AFGHANISTAN,,,CRANSTON,RI,02910,0000,03,3,2000,202311,1,15,000000000,1,01,202507,3,3,01,0,07,51672,59071,59071,Q30,",
  "050465634,RHODE ISLAND CISM TEAM,,,CRANSTON,RI,02920,0000,03,3,1000,199210,1,15,149000000,1,01,202412,0,0,02,0,12,0,0,0,B99Z,",
  "050258894,UNITED CHURCH OF CHRIST BENEFICENT CHURCH,,,PROVIDENCE,RI,02903,1665,03,9,7000,196406,1,10,601000000,5,01,202412,0,0,06,0,12,,,,,",
];

test("the page of which a register says all that is known weighs at most 8 kB", async () => {
  const importing = await anImporting();
  const { store } = importing;
  await importing.run("irs-bmf", [importing.file("eo_ri.csv", [columns, ...rows].join("\n"))]);
  const renderer = await aRenderer();
  const lists = openListIndex(store);
  const source = { store, lists, renderer, baseUrl: siteBaseUrl, network: "local" } as const;
  const files = await profile.render(
    rows.map((_, at) => profileKey(at + 1)),
    source,
  );
  const pages = files.filter(({ path }) => /^nonprofits\/.*\.html$/.test(path));
  const heavy = pages.flatMap(({ path, body }) => {
    const bytes = Buffer.byteLength(textOf(body));
    return bytes > 8_000 ? [`${path}: ${bytes}`] : [];
  });
  expect([pages.length, heavy]).toEqual([rows.length, []]);
  importing.close();
});
