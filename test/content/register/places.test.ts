import { describe, expect, test } from "bun:test";
import {
  bmfPlace,
  type Place,
  postTown,
  provinceName,
  townInsteadOfPostcode,
} from "#content/register/places.ts";

const place = (STREET: string, CITY: string, STATE: string) =>
  orderOf(bmfPlace({ STREET, CITY, STATE }));

const orderOf = ({ country_code, region, city }: Place) => [country_code, region, city];

test.each([
  ["1 SAMPLE ST", "NORTH LAS VEGAS", "NV", ["US", "Nevada", "North Las Vegas"]],
  ["1 CALLE", "SAN JUAN", "PR", ["PR", null, "San Juan"]],
  ["PSC 475 BOX 1452", "FPO", "AP", ["US", "Armed Forces Pacific", null]],
  ["1 SAMPLE ST", "E PROVIDENCE", "RI", ["US", "Rhode Island", "East Providence"]],
  ["1 SAMPLE ST", "T OR C", "NM", ["US", "New Mexico", "Truth or Consequences"]],
  ["1 SAMPLE ST", "HI RLS MTN PK", "NM", ["US", "New Mexico", "High Rolls Mountain Park"]],
  ["1 SAMPLE ST", "WASHINGON DC", "DC", ["US", "District of Columbia", "Washington"]],
  ["1 SAMPLE ST", "WHITE RIV JCT", "VT", ["US", "Vermont", "White River Junction"]],
  ["1 SAMPLE ST", "CRAFTSBURY CM", "VT", ["US", "Vermont", "Craftsbury Common"]],
  ["1 SAMPLE ST", "JEFFERSONVLLE", "VT", ["US", "Vermont", "Jeffersonville"]],
  ["1 SAMPLE ST", "BROWNING MT", "MT", ["US", "Montana", "Browning"]],
  ["1 SAMPLE ST", "", "NV", ["US", "Nevada", null]],
  ["1 SAMPLE ST", "NONE", "NV", ["US", "Nevada", null]],
  ["1 SAMPLE ST", "ST THOMAS US", "VI", ["VI", null, "St Thomas"]],
  ["1 SAMPLE ST", "NOWHERE", "ZZ", ["US", null, "Nowhere"]],
])("a row of the IRS file stands %s, %s %s: %j", (street, city, state, found) => {
  expect(place(street, city, state)).toEqual(found);
});

test.each([
  ["TORONTO ON M3J1P3", "CANADA", ["CA", "Ontario", "Toronto"]],
  ["VANCOUVER BRITISH COLUMBIA V5Z 2", "CANADA", ["CA", "British Columbia", "Vancouver"]],
  ["ST ANDREWS ST ANDREWS KY16 9UA", "SCOTLAND", ["GB", null, "St Andrews"]],
  ["COOGEE NSW 2034", "AUSTRALIA", ["AU", "New South Wales", "Coogee"]],
  ["TEL AVIV ISRAEL 647340", "ISRAEL", ["IL", null, "Tel Aviv"]],
  ["HAIFA IL 31096", "ISRAEL", ["IL", null, "Haifa"]],
  ["ROMA RM 00184", "ITALY", ["IT", null, "Roma"]],
  ["MEXICO CITY 04010", "MEXICO", ["MX", null, "Mexico City"]],
  ["45138 ESSEN", "WEST GERMANY", ["DE", null, "Essen"]],
  ["QUESNEL,BC,42J 6C6", "CANADA", ["CA", "British Columbia", "Quesnel"]],
  ["VANCOUVER CA V5W 4B5,.", "CANADA", ["CA", null, "Vancouver"]],
  ["OLD STREET LONDON EUROPE EC1V 9DD", "UNITED KINGDOM", ["GB", null, null]],
  ["CHESTER LE STREET DH3 3QR", "UNITED KINGDOM", ["GB", null, "Chester Le Street"]],
  ["TIJUANA BAJA CALIFORNIA 22260", "MEXICO", ["MX", null, "Tijuana Baja California"]],
  ["THREE ANCHOR BAY WESTERN CAPE 8005", "SOUTH AFRICA", ["ZA", null, null]],
  ["PO BOX 12", "KENYA", ["KE", null, null]],
  ["LOCAL", "SWEDEN", ["SE", null, null]],
  ["ARUSHA TANZANIA", "EAST AFRICA", ["TZ", null, "Arusha"]],
  ["SOMEWHERE", "BRITISH WEST INDIES", [null, null, "Somewhere"]],
  ["LONDON FOREIGN COUNTRIES EC2M 4YN", "UNITED KINGDOM", ["GB", null, "London"]],
  ["LONDON EUROPE EC1A 12DH", "UNITED KINGDOM", ["GB", null, "London"]],
  ["UNITED KINGDOM WILTSHIRE SN22NA", "UNITED KINGDOM", ["GB", null, "Wiltshire"]],
  ["UNITED KINGDOM", "UNITED KINGDOM", ["GB", null, null]],
  ["CAMBRIDGE CB2 IRH", "ENGLAND", ["GB", null, "Cambridge"]],
  ["TORONTO NOT APPLICABLE", "CANADA", ["CA", null, "Toronto"]],
  ["CRO 2 JW", "LONDON", ["GB", null, "London"]],
])("a foreign row stands %s under %s: %j", (street, city, found) =>
  expect(place(street, city, "")).toEqual(found),
);

test.each([
  ["YARDLEY PA 19067", "AFGHANISTAN", ["US", "Pennsylvania", "Yardley"]],
  ["RICHMOND HILL GEORGIA 31324", "GEORGIA", ["US", "Georgia", "Richmond Hill"]],
  ["TALLADEGA ALABAMA AL 35160", "AFGHANISTAN", ["US", "Alabama", "Talladega"]],
  ["NASHVILLE 37203", "AFGHANISTAN", ["US", null, "Nashville"]],
  ["MICHIGAN MICHIGAN MICHIGAN", "MALAWI", ["US", "Michigan", "Michigan"]],
  ["RAPIDAN", "AFGHANISTAN", [null, null, null]],
  ["KABUL 1001", "AFGHANISTAN", ["AF", null, "Kabul"]],
  ["APO AE 09263", "GERMANY", ["US", "Armed Forces Europe", null]],
  ["APO 09464", "UNITED ARAB EMIRATES", ["US", "Armed Forces Europe", null]],
  ["KOROR KOROR 96940", "POLAND", ["PW", null, "Koror"]],
  ["ST THOMAS VI 00803", "BRITISH VIRGIN ISLANDS", ["VI", null, "St Thomas"]],
  ["ROAD TOWN TORTOLA", "BRITISH VIRGIN ISLANDS", ["VG", null, "Road Town Tortola"]],
  ["PAGO PAGO 96799", "AUSTRALIA", ["AS", null, "Pago Pago"]],
])("a country that the street contradicts %s under %s: %j", (street, city, found) =>
  expect(place(street, city, "")).toEqual(found),
);

describe("a postcode of the United Kingdom", () => {
  test.each([
    ["London", ["E20 1JQ", "EC4Y ODS"]],
    ["Chester-le-Street", ["dh2 1an "]],
    ["Inverness", ["IV2"]],
    ["Kenilworth", ["CV8 2LG"]],
    ["Coventry", ["CV8 3FL"]],
    ["Hawick", ["TD9 7BB"]],
    [undefined, ["XX0 0XX", "M5V 3A7", "10500", ""]],
  ])("of the post town %p is any of %j", (town, postcodes) => {
    for (const postcode of postcodes) expect(postTown(postcode, "Sample")?.city).toBe(town);
  });

  test("is where its town comes from, and a name may say which of two", () => {
    const edinburgh = { city: "Edinburgh", rule: "from postcode EH1" };
    expect(postTown("EH1 1AA", "Sample")).toEqual(edinburgh);
    expect(postTown("TD9 0QU", "Newcastleton First Responders")?.city).toBe("Newcastleton");
  });

  test.each([
    ["Poole", ["POOLE"]],
    ["Manchester", ["Manchest"]],
    [null, ["Cambridg", "Wiltshir", "England", ""]],
  ])("may be missing: the town %p is read from %j in its place", (town, texts) => {
    for (const text of texts) expect(townInsteadOfPostcode(text)).toBe(town);
  });
});

test("a state is known by code and name, in any letter case", () => {
  expect(provinceName("AU", "qld")).toBe("Queensland");
  expect(provinceName("AU", "Northern Territory")).toBe("Northern Territory");
  expect(provinceName("AU", "Sample")).toBeNull();
  expect(provinceName("FJ", "QLD")).toBeNull();
});
