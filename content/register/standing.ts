import type { NonprofitStatus } from "#content/contract/nonprofit.ts";
import type {
  Organisation,
  OrganisationItem,
  OrganisationsAnswer,
  RegisterStatement,
  Standing,
} from "#content/contract/standing.ts";
import words from "#content/editorial/standing.json";
import { countryName } from "#content/nonprofit/country.ts";
import {
  deductibilityInWords,
  deductibilityOf,
  giverAnswers,
  type Judgement,
} from "#content/nonprofit/giver-answers.ts";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import {
  countingRecords,
  listedAfter,
  recordUrl,
  type Register,
  registerById,
  registerName,
  registersOfScheme,
} from "#content/nonprofit/register-facts.ts";
import { type RegisterNumber, schemeOf } from "./org-id.ts";

/** When each part of each register was last read: register, then part, then YYYY-MM-DD. */
export type ScopesRead = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** What the store knows about a number. `slug`, `name` and `status` are the profile's. */
export type RegisteredNumber = {
  records: readonly RegisterRecord[];
  profile: { slug: string; name: string; status: NonprofitStatus } | null;
};

/**
 * The standing according to registers. A missing row is never a revocation. Revoked becomes reinstated when the row says so
 * or another register lists the organisation in a later file; if it disappears later, it is `not listed`.
 */
export function standingOf(
  all: readonly RegisterRecord[],
  scopes: ScopesRead,
  scheme: string,
): Judgement<Standing> {
  const records = countingRecords(all);
  const inState = (
    state: RegisterRecord["state"],
    holds: (record: RegisterRecord) => boolean = () => true,
  ) => records.find((record) => record.state === state && holds(record)) ?? null;
  const revoked = inState("revoked");
  if (revoked !== null) {
    const again = listedAfter(revoked, records, (record) => confirmedAt(record, scopes));
    return again === null ? { value: "revoked", by: revoked } : { value: "reinstated", by: again };
  }
  const listed = inState("registered");
  const reinstated = inState("reinstated");
  const gone = inState("gone", ({ register }) => !isOfRevoked(register));
  const leftSince = listed === null && gone !== null && gone.as_of;
  if (reinstated !== null && (leftSince === false || leftSince <= sinceOf(reinstated))) {
    return { value: "reinstated", by: reinstated };
  }
  if (listed !== null) return { value: "registered", by: listed };
  const removed = inState("removed");
  if (removed !== null) return { value: "removed", by: removed };
  const wasRead = registersOfScheme(scheme).some(
    (register) => !isOfRevoked(register.id) && readAt(register, scheme, scopes) !== null,
  );
  return { value: gone !== null || wasRead ? "not listed" : "unknown", by: gone };
}

/** A list of revocations says nothing about organisations that it does not name. */
const isOfRevoked = (register: string): boolean => words.registers_of_revoked.includes(register);

/** When this happened according to the register; "" if unknown. */
export const sinceOf = ({ facts, state }: RegisterRecord): string => String(facts[state] ?? "");

/** The date of the newest file that says this: its own date, or that of the newest file of its part. */
export function confirmedAt({ register, scope, as_of }: RegisterRecord, scopes: ScopesRead) {
  const read = scopes.get(register)?.get(scope) ?? "";
  return read > as_of ? read : as_of;
}

/** The public answer about a number. */
export function organisationAnswer(
  number: RegisterNumber,
  registerNumber: RegisteredNumber,
  { scopes, baseUrl }: { scopes: ScopesRead; baseUrl: string },
): Organisation {
  const { org_id, country_code, type, registration_number } = number;
  const scheme = schemeOf(org_id);
  const { records, profile } = registerNumber;
  const standing = standingOf(records, scopes, scheme);
  const gifts = deductibilityOf(records, standing.value === "revoked" ? standing.by : null, scheme);
  const filings = records.flatMap(({ state, register }) =>
    state === "filed" ? (registerById(register) ?? []) : [],
  );
  const statements = [...registersOfScheme(scheme), ...filings].map((register) => {
    const record = records.find((candidate) => candidate.register === register.id);
    return statementOf(register, org_id, record, scopes);
  });
  const isUnread = ({ state }: RegisterStatement) => state === "not read";
  const readStatements = statements.filter((statement) => !isUnread(statement));
  // Two publications have the same register: that one of them was not read says nothing where the other was.
  const names = new Set(readStatements.map(({ register_name }) => register_name));
  const registers = statements.filter((row) => !(isUnread(row) && names.has(row.register_name)));
  const sourceIn = ({ by }: Judgement<unknown>) => {
    const source = sourceOf(by, records, scopes, scheme);
    const named = registerById(source.register ?? "");
    return {
      ...source,
      register_name: named === undefined ? null : registerName(named, org_id),
      record_url: by && recordUrl(by.register, org_id),
    };
  };
  return {
    org_id,
    country: countryName(country_code) ?? country_code,
    type,
    registration_number,
    found: profile !== null || records.length > 0,
    name: profile?.name ?? records[0]?.name ?? null,
    profile: profile && {
      ...profile,
      profile_url: `${baseUrl}/nonprofits/${profile.slug}`,
      api_url: `${baseUrl}/api/nonprofits/${profile.slug}`,
    },
    standing: {
      value: standing.value,
      meaning: standingInWords(standing, scheme),
      since: (standing.by && sinceOf(standing.by)) || null,
      ...sourceIn(standing),
    },
    deductibility: gifts && {
      value: gifts.value,
      meaning: deductibilityInWords(gifts),
      ...sourceIn(gifts),
    },
    giver_answers: giverAnswers(org_id, records, (record) => confirmedAt(record, scopes)),
    registers,
  };
}

const missingWords: ReadonlyMap<string, string> = new Map(Object.entries(words.missing));

export function standingInWords({ value, by }: Judgement<Standing>, scheme: string): string {
  const sentence = by?.state === "gone" ? words.gone : words.standings[value];
  const missingText = missingWords.get(scheme);
  return value === "not listed" && missingText !== undefined
    ? `${sentence} ${missingText}`
    : sentence;
}

/** The source and date of a statement; for a missing row, the first register that was read and its newest file. */
export function sourceOf(
  by: RegisterRecord | null,
  records: readonly RegisterRecord[],
  scopes: ScopesRead,
  scheme: string,
): { register: string | null; as_of: string | null } {
  if (by !== null) return { register: by.register, as_of: confirmedAt(by, scopes) };
  for (const register of registersOfScheme(scheme)) {
    if (isOfRevoked(register.id)) continue;
    const record = records.find((candidate) => candidate.register === register.id);
    const as_of = record ? confirmedAt(record, scopes) : readAt(register, scheme, scopes);
    if (as_of !== null) return { register: register.id, as_of };
  }
  return { register: null, as_of: null };
}

/**
 * The date of the newest file of a register that could list numbers of this scheme; null if none was read. A part with
 * another scheme's name could not: England's says nothing about Scotland.
 */
function readAt({ id, record_urls }: Register, scheme: string, scopes: ScopesRead): string | null {
  let newest: string | null = null;
  for (const [part, readOn] of scopes.get(id) ?? []) {
    const isOther = part !== scheme && part in record_urls;
    if (!isOther && (newest === null || readOn > newest)) newest = readOn;
  }
  return newest;
}

function statementOf(
  register: Register,
  orgId: string,
  record: RegisterRecord | undefined,
  scopes: ScopesRead,
): RegisterStatement {
  const { id, licence, attribution } = register;
  const readOn = readAt(register, schemeOf(orgId), scopes);
  return {
    register: id,
    register_name: registerName(register, orgId),
    state: record?.state ?? (readOn === null ? "not read" : "not listed"),
    name: record?.name ?? null,
    as_of: record === undefined ? readOn : confirmedAt(record, scopes),
    record_url: recordUrl(id, orgId),
    licence,
    attribution,
  };
}

/** The answer about many numbers; registers with their licences, and meanings, are given once and referred to. */
export function batchAnswer(
  answers: readonly (Pick<OrganisationItem, "query" | "error"> & Partial<Organisation>)[],
): OrganisationsAnswer {
  const ids = new Map<string, string>();
  const registers: OrganisationsAnswer["registers"] = {};
  const meanings: Record<string, string> = {};
  const idOf = (what: string, text: string): string => {
    const id = ids.get(text) ?? (what in meanings ? `${what} (${ids.size})` : what);
    ids.set(text, id);
    meanings[id] = text;
    return id;
  };
  const referring = <
    Value extends { value: string; meaning: string; register_name: string | null },
  >(
    kind: string,
    { meaning, register_name: _name, ...rest }: Value,
  ) => ({ ...rest, meaning_id: idOf(`${kind}: ${rest.value}`, meaning) });
  const organisations = answers.map((answer): OrganisationItem => {
    const {
      query,
      error,
      standing,
      deductibility,
      giver_answers,
      registers: rows,
      ...identity
    } = answer;
    if (standing === undefined) return { query, ...(error && { error }) };
    return {
      query,
      ...identity,
      standing: referring("standing", standing),
      deductibility: deductibility && referring("deductibility", deductibility),
      giver_answers: giver_answers?.map(({ reason, ...giverAnswer }) => ({
        ...giverAnswer,
        reason_id: idOf(`${giverAnswer.question}: ${giverAnswer.value}`, reason),
      })),
      registers: rows?.map(({ register_name, licence, attribution, ...row }) => {
        registers[row.register] = { register_name, licence, attribution };
        return row;
      }),
    };
  });
  return { count: organisations.length, registers, meanings, organisations };
}
