import { describe, expect, test } from "bun:test";
import { readableProse, shortened } from "#content/register/sentence-case.ts";

describe("a text in capitals", () => {
  test.each([
    ["TO FEED THE HUNGRY. WE SERVE ALL!  COME IN", "To feed the hungry. We serve all! Come in"],
    [
      "WE HELP VETERANS IN THE USA AND IN KENYA'S TOWNS",
      "We help veterans in the USA and in Kenya's towns",
    ],
    ["THE YMCA'S AND NAACP'S GUESTS", "The YMCA's and NAACP's guests"],
    ["SAMPLE HOUSE, INC. IS A HOME", "Sample house, Inc. is a home"],
    ["ROMAN CATHOLIC CHARITY THAT I KNOW", "Roman Catholic charity that I know"],
    ["(I) TO HELP. (II) TO HEAL", "(I) to help. (ii) to heal"],
    [
      "THE CHURCH OF ENGLAND IN THE COUNTY OF OXFORDSHIRE, WITH JOHN OF MALAWI",
      "The Church of England in the county of Oxfordshire, with John of Malawi",
    ],
    [
      "HUD HOMES OF THE WEST MIDLANDS AND ATLANTA, GEORGIA",
      "HUD homes of the West Midlands and Atlanta, Georgia",
    ],
    ["&#9679;The county&#8217;s homes &#x26; &#61607; halls", "●The county’s homes & halls"],
    ["Not &#0; nor &#9999999; nor &#;", "Not nor nor &#;"],
    ["TO NBSP;FOSTER NBSP;ART [:AMP:] REST&NBSP;HERE", "To foster art & rest here"],
    [
      "WE KEEP ST. ALPHEGE'S AND ST OLAF HALL ON ELM ST IN SAMPLE WITH DR. QUIMBY",
      "We keep St. Alphege's and St Olaf hall on elm st in sample with Dr. Quimby",
    ],
    [
      "SINCE MARCH 2012 WE MAY MARCH IN SAN JUAN AND SANTA BARBARA ON MAY 3",
      "Since March 2012 we may march in San Juan and Santa Barbara on May 3",
    ],
    ["SEE WWW.SAMPLE.ORG/GIVE. ASK", "See www.sample.org/give. Ask"],
    [
      "SINCE WORLD WAR II, THE 442ND AND THE 21ST EACH YEAR",
      "Since World War II, the 442nd and the 21st each year",
    ],
    ["AID IN THE U.S. AND BEYOND", "Aid in the U.S. and beyond"],
    [
      "ALL NEW YORKERS OF NEW YORK CITY'S NEW HOMES",
      "All New Yorkers of New York City's new homes",
    ],
    ["TO THE UNITED STATES OF A UNITED PEOPLE", "To the United States of a united people"],
    [
      "THE WIDE SAMPLE NETWORK (WSN) OF HOMES (BIG): WSN HELPS",
      "The wide sample network (WSN) of homes (big): WSN helps",
    ],
  ])("%s becomes %s", (raw, readable) => expect(readableProse(raw)).toBe(readable));

  test.each([
    // Common words are written small, though the organisation's name has them.
    [
      "ZEBRA HUMAN NEEDS AND ITS BRANCHES",
      "ZEBRA MEETS ITS HUMAN NEEDS AND CONTINUES ITS MISSION",
      "Zebra meets its human needs and continues its mission",
    ],
    ["ZEBRA LACROSSE CLUB", "ZEBRA TEACHES LACROSSE", "Zebra teaches lacrosse"],
    [
      "ZEBRA VALLEY TRUST OF QUINLAN INC",
      "ZEBRA VALLEY TRUST OF QUINLAN HELPS QUINLAN. ZVTQ LIKES THE VALLEY",
      "Zebra Valley Trust of Quinlan helps Quinlan. ZVTQ likes the valley",
    ],
    [
      "ZEBRA ST JAMES LIMITED",
      "A SCHOOL NAMED “ZEBRA ST JAMES”",
      "A school named “Zebra St James”",
    ],
  ])("writes the organisation's name %s as the name is written", (name, raw, readable) => {
    expect(readableProse(raw, name)).toBe(readable);
  });
});

test.each([
  // An ampersand that was written for HTML is one; in mixed case spaces and control characters go.
  ["20th &amp; 21st century art", "20th & 21st century art"],
  ["&#8226; The charity?s &#x201C;art\uf0b7\u201d. Who?", "• The charity's “art ”. Who?"],
  ["At samples.org/all.php?s=aid for one", "At samples.org/all.php?s=aid for one"],
  [" Aid\u0000  for the\nSEA, by NGOs ", "Aid for the SEA, by NGOs"],
  ...[
    "None of our guests pays.",
    "Seeing is believing",
    "See that all get services",
    "Various kinds of aid",
    "No kill animal shelter",
    "See the need, meet the need: services to the homeless",
    "See Ability Foundation provides services for the blind",
    "See 20/20: glasses for the poor",
    "None for sale: rescue of dogs",
    "No details are spared in our restoration of the church",
    "As per our constitution we house 100000 people",
    "No activities, other than grants",
  ].map((text) => [text, text] as const),
])("%j says %p", (raw, readable) => expect(readableProse(raw)).toBe(readable));

test.each([
  ["elsewhere", ["SEE SCHEDULE O", "See Part I, Line 1", "See attached statement"]],
  ["elsewhere", ["Other programs as described in Schedule O"]],
  [
    "elsewhere",
    ["See individual constituents", "see accounts pages 2.3.4", "As per rafa (226686)"],
  ],
  [
    "elsewhere",
    ["See Report of theTrustees document attached", "(see below)", "see clause 3 of scheme"],
  ],
  ["nothing", ["N/A", "none.", "To be inserted", "-", ""]],
  ["nothing", ["No activities", "There were no programs in 2015.", "Dormant", "None this year"]],
])("what says %s is left out", (_, texts) => {
  expect(texts.filter((raw) => readableProse(raw) !== "")).toEqual([]);
});

test.each([
  ["We feed people. We teach them too.", 20, "We feed people."],
  ["We feed, house and teach people", 16, "We feed, house…"],
  ["abcdefghij", 5, "abcd…"],
  // Counted in characters.
  ["𝔘𝔫𝔦", 3, "𝔘𝔫𝔦"],
])("%j in %d characters ends with a sentence, or else with a word: %j", (text, max, short) => {
  expect(shortened(text, max)).toBe(short);
});
