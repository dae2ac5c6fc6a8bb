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
    ["SAMPLE HOUSE, INC. IS A HOME", "Sample house, inc. is a home"],
    ["ROMAN CATHOLIC CHARITY THAT I KNOW", "Roman Catholic charity that I know"],
    ["(I) TO HELP. (II) TO HEAL", "(I) to help. (ii) to heal"],
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

  test("writes common words small, though the organisation's name has them", () => {
    const text = "ZEBRA MEETS ITS HUMAN NEEDS AND CONTINUES ITS MISSION";
    expect(readableProse(text, "ZEBRA HUMAN NEEDS AND ITS BRANCHES")).toBe(
      "Zebra meets its human needs and continues its mission",
    );
  });

  test("writes the organisation's name as the name is written", () => {
    const text = "ZEBRA VALLEY TRUST OF QUINLAN HELPS QUINLAN. ZVTQ LIKES THE VALLEY";
    expect(readableProse(text, "ZEBRA VALLEY TRUST OF QUINLAN INC")).toBe(
      "Zebra Valley Trust of Quinlan helps Quinlan. ZVTQ likes the valley",
    );
    expect(readableProse("A SCHOOL NAMED “ZEBRA ST JAMES”", "ZEBRA ST JAMES LIMITED")).toBe(
      "A school named “Zebra St James”",
    );
  });
});

test("an ampersand that was written for HTML is one", () => {
  expect(readableProse("20th &amp; 21st century art")).toBe("20th & 21st century art");
});

test("a text in mixed case only loses repeated spaces and control characters", () => {
  expect(readableProse(" Aid\u0000  for the\nSEA, by NGOs ")).toBe("Aid for the SEA, by NGOs");
});

test.each([
  "SEE SCHEDULE O",
  "See Part I, Line 1",
  "N/A",
  "none.",
  "To be inserted",
  "See attached statement",
  "-",
  "",
  "Other programs as described in Schedule O",
])("%p says nothing", (raw) => expect(readableProse(raw)).toBe(""));

test.each(["None of our guests pays.", "Seeing is believing", "Various kinds of aid"])(
  "%p says something",
  (raw) => expect(readableProse(raw)).toBe(raw),
);

describe("a text that is too long", () => {
  test("ends with a sentence when one ends in its second half", () => {
    expect(shortened("We feed people. We teach them too.", 20)).toBe("We feed people.");
  });
  test("ends with a word otherwise", () => {
    expect(shortened("We feed, house and teach people", 16)).toBe("We feed, house…");
    expect(shortened("abcdefghij", 5)).toBe("abcd…");
  });
  test("stays when it fits, counted in characters", () => {
    expect(shortened("𝔘𝔫𝔦", 3)).toBe("𝔘𝔫𝔦");
  });
});
