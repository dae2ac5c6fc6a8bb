import { describe, expect, test } from "bun:test";
import {
  otherName,
  readableName,
  readablePlace,
  wholeChapter,
  wholeName,
} from "#content/register/names.ts";

test.each([
  ["NEW ENGLAND INTERCOLLEGIATE WRESTLING OFFICIALS ASSOCIATION IN", / ASSOCIATION INC$/],
  ["MONTANA SHEET METAL AND AIR CONDITIONING CONTRACTORS ASSOCIATI", / ASSOCIATION$/],
  ["WARREN AND ETHYLN REED-CARSON VALLEY LIONS SCHOLARSHIP FOUNDATIO", / FOUNDATION$/],
  ["GETTING OUT BY GOING IN", / IN$/],
  ["THE@LOVE OF A SAMPLE", /^THE LOVE OF /],
  ["THE@CHUCK AND EILEEN SAMPLE CHARITABLE AND EDUCATIONAL FOUNDATIO", /^THE CHUCK .* FOUNDATION$/],
  ["SAMPLE CHURCH C/O MRS PAT SAMPLE", /^SAMPLE CHURCH$/],
  ["SAMPLE BUREAU INC % MRS PAT SAMPLE", /^SAMPLE BUREAU INC$/],
  ["SAMPLE SOCIETY ATTN PAT SAMPLE", /^SAMPLE SOCIETY$/],
  ["GIVE 100 % FUND", /^GIVE 100 % FUND$/],
])("%s is made whole", (name, whole) => expect(wholeName(name)).toMatch(whole));

test.each([
  ["SAMPLE BAY AND CREEK TOASTMASTERS C", "SAMPLE BAY AND CREEK TOASTMASTERS CLUB"],
  ["SAMPLE BAY, HILL AND CREEK PARK CLU", "SAMPLE BAY, HILL AND CREEK PARK CLUB"],
  // A committee or a commission.
  ["SAMPLE BAY AND CREEK OF UPPER COMMI", "SAMPLE BAY AND CREEK OF UPPER COMMI"],
  ["SAMPLE COUNC", "SAMPLE COUNC"],
])("the chapter %s is %s", (name, whole) => expect(wholeChapter(name)).toBe(whole));

describe("a register's name in capitals", () => {
  test.each([
    ["FRIENDS OF THE SAMPLE LIBRARY INC", "Friends of the Sample Library Inc"],
    ["THE YMCA OF SAMPLE COUNTY", "The YMCA of Sample County"],
    ["MCDONALD AND MACDONALD HOUSE", "McDonald and MacDonald House"],
    ["MACHINE MUSEUM OF MACON", "Machine Museum of Macon"],
    ["O'BRIEN CHILDREN'S FUND", "O'Brien Children's Fund"],
    ["L’ARCHE SAMPLE", "L’Arche Sample"],
    ["HALE KA'U HAWAI'I", "Hale Ka'u Hawai'i"],
    ["'TIS THE SEASON 'N MORE", "'Tis the Season 'n More"],
    ["EDWARD S POCOCK III TRUST", "Edward S Pocock III Trust"],
    ["PIUS X SOCIETY CHAPTER XIV", "Pius X Society Chapter XIV"],
    ["JOHN A SMITH AND EDWARD E FORD ADOPT A DOG", "John A Smith and Edward E Ford Adopt a Dog"],
    ["HUI O LAKA FE Y GRACIA", "Hui o Laka Fe y Gracia"],
    ["C A R E CENTER", "C A R E Center"],
    ["1ST CAVALRY 4-H CLUB 21ST CENTURY", "1st Cavalry 4-H Club 21st Century"],
    ["CAMP 2D 501C3", "Camp 2D 501C3"],
    ["NCAA ABQ PTO LLC", "NCAA ABQ PTO LLC"],
    // The first or last word spells the initials of the others, with or without the small words.
    ["PRISON ADVICE AND CARE TRUST (PACT)", "Prison Advice and Care Trust (PACT)"],
    ["SAMPLE ARTS OF MAINE INC - SAOM INC", "Sample Arts of Maine Inc - SAOM Inc"],
    ["HOPE HELPING OTHER PEOPLE EVERYDAY", "HOPE Helping Other People Everyday"],
    ["TSN-THE SAMPLE NETWORK INC", "TSN-The Sample Network Inc"],
    ["SCIO SAMPLE TRUST SCIO", "Scio Sample Trust SCIO"],
    ["HOPE HELPS OTHER PEOPLE", "Hope Helps Other People"],
    ["ART AND REST", "Art and Rest"],
    ["NEXT MCGEE TEACHERS ASSN DEBT MCHA EBT", "Next McGee Teachers Assn Debt MCHA EBT"],
    ["ST MARYS SCHOOL HARDIN MT", "St Marys School Hardin MT"],
    ["MT CHARLESTON CHAPTER", "Mt Charleston Chapter"],
    ["PLAY AND THRIVE OR", "Play and Thrive OR"],
    ["SMITH & CO", "Smith & Co"],
    ["HELP US TO HELP THE US", "Help Us to Help the US"],
    ["CORO DE NINOS DE LA PLAZA Y LA VIDA", "Coro de Ninos de la Plaza y la Vida"],
    ["CHURCH OF LAS VEGAS DE LAS CRUCES", "Church of Las Vegas de Las Cruces"],
    ["SURCANDO LA HISTORIA", "Surcando La Historia"],
    ["IN-LINE HAND-IN-HAND", "In-Line Hand-in-Hand"],
    ["SAMPLE-UPON-AVON AND SAMPLE-LE-STREET", "Sample-upon-Avon and Sample-le-Street"],
    ["FRIENDS OF DES MOINES OF DES SAMPLES", "Friends of Des Moines of des Samples"],
    ["OVER 60'S CLUB OF KING JOHN VII'S", "Over 60's Club of King John VII's"],
    ["III SAMPLE CHAPTER", "III Sample Chapter"],
    ["VI SAMPLE OF XI", "VI Sample of XI"],
    ["XI SAMPLE MCGEE MCAH MCA", "Xi Sample McGee MCAH MCA"],
    ["PEQUE¥OS SAMPLE", "Pequeños Sample"],
    ["DONA ANA KOHL MAWR CLWYD MENCAP", "Dona Ana Kohl Mawr Clwyd Mencap"],
    ["TRUST (THE OLD MILL)", "Trust (The Old Mill)"],
    ["  SAMPLE\t HOUSE  ", "Sample House"],
  ])("%s is written %s", (raw, readable) => {
    expect(readableName(raw)).toBe(readable);
    expect(readableName(readable)).toBe(readable);
  });

  test("the initials of a chapter's parent are in capitals", () => {
    const parent = "Sample Union of Nurses Inc";
    expect(readableName("SUN OF UPPER SUNDALE", parent)).toBe("SUN of Upper Sundale");
    expect(readableName("SUN OF UPPER SUNDALE")).toBe("Sun of Upper Sundale");
  });

  test.each([
    ["sampleHOUSE of NYC", "sampleHOUSE of NYC"],
    ["1St University Of The Sample", "1st University of the Sample"],
    ["The Sample (The Walk In Centre) And Hall", "The Sample (The Walk In Centre) and Hall"],
  ])(
    "the name %s, which has lower-case letters, keeps its case but for small words",
    (raw, name) => {
      expect(readableName(raw)).toBe(name);
    },
  );
});

test.each([
  ["ST THOMAS", "St Thomas"],
  ["MT VERNON", "Mt Vernon"],
  ["TRUTH OR CONSEQUENCES,", "Truth or Consequences"],
  ["MCGRATH", "McGrath"],
  ["FORT MC COY", "Fort McCoy"],
  ["STEM BAY", "Stem Bay"],
  ["SAMPLE AFB", "Sample AFB"],
  ["WEST DES MOINES", "West Des Moines"],
  ["COEUR D'ALENE", "Coeur d'Alene"],
  ["Sample Bay ", "Sample Bay"],
])("the town %s is written %s", (raw, readable) => expect(readablePlace(raw)).toBe(readable));

test.each([
  ["VASH", "VISITOR ALOHA SOCIETY OF HAWAII", "VASH"],
  ["MANOA VALLEY THEATRE", "HAWAII PERFORMING ARTS COMPANY LTD", "Manoa Valley Theatre"],
  ["EAST-WEST PLACE", "CENTER FOR INTERCHANGE BETWEEN EAST AND WEST", "East-West Place"],
  ["DBA KENSHO KARATE CLUB", "KENSHO NONPROFIT DOJO", "Kensho Karate Club"],
  ["dba iKarate Club", "Kensho Nonprofit Dojo", "iKarate Club"],
  ["SAMPLE PAT TTEE", "SAMPLE FUND", null],
  ["c/o Pat Sample", "Sample Club", null],
  ["PAT SAMPLE TREAS", "SAMPLE CLUB", null],
  ["WASHINGTON CO FAIR BOARD", "WASHINGTON FAIR", null],
  ["JAMES R SAMPLE", "SAMPLE FIELD ORCHARD", null],
  ["PAT SAMPLE", "SAMPLE ORCHARD", null],
  ["MELO TINA ANN", "MELO ANN FAMILY FOUNDATION", null],
  ["SAMPLE ORCHARD", "SAMPLE ORCHARD INC", null],
  ["7289", "SAMPLE BAPTIST SOCIETY", null],
])("the other name %p of %p is %p", (line, name, other) => {
  expect(otherName(line, name)).toBe(other);
});
