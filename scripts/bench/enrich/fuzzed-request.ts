import { enrichableFields } from "#content/contract/enrichment.ts";

/** A source of numbers from 0 to 1 that gives the same ones for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const strange = [
  "",
  " ",
  "\u0000",
  "\u202Eevil",
  "\uD800",
  "\u{E0041}",
  "'; DROP TABLE submissions; --",
  "<script>",
  "{slug}",
  "..%2f..",
  "null",
  "[]",
  "{}",
  "-1",
  "1e999",
  "NaN",
  "https://127.0.0.1/",
  "http://[::1]/",
  "javascript:alert(1)",
  "a@b",
  "é".repeat(200),
  "x".repeat(6_000),
  "\n\r\t",
  "%",
  "0x7f",
  "９９９９",
  "2026",
  "999",
  "1998",
  "Oslo",
  "https://charity.example/?utm_source=a",
];

const contentTypes = [
  "application/json",
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "",
  "multipart/form-data",
];
const names = [
  "field",
  "value",
  "agent_id",
  "agent_name",
  "source_url",
  "fields",
  "__proto__",
  "constructor",
  "extra",
];

/** The request with this number: good ones, nearly good ones, and noise. The same for the same seed and number. */
export function fuzzedRequest(seed: number, at: number, slugs: readonly string[]): Request {
  const random = numbers(Math.imul(seed, 1_000_003) + at);
  const pick = <Item>(from: readonly Item[], fallback: Item): Item =>
    from[Math.floor(random() * from.length)] ?? fallback;
  const text = () => (random() < 0.7 ? pick(strange, "") : `word ${Math.floor(random() * 40)}`);
  const anything = (depth: number): unknown => {
    const kind = random();
    if (kind < 0.5) return text();
    if (kind < 0.6) return random() * 1e6;
    if (kind < 0.7) return pick([null, true, false], null);
    if (depth === 0) return {};
    if (kind < 0.85)
      return Array.from({ length: Math.floor(random() * 4) }, () => anything(depth - 1));
    return Object.fromEntries([0, 1, 2].map(() => [pick(names, "field"), anything(depth - 1)]));
  };
  const body = (): unknown => {
    if (random() < 0.25) return anything(12);
    const item = () => ({
      field: pick(enrichableFields, "city"),
      value: text(),
      ...(random() < 0.2 ? { source_url: text() } : {}),
    });
    const batch =
      random() < 0.3 ? { fields: Array.from({ length: Math.floor(random() * 23) }, item) } : item();
    const sent = { ...batch, agent_id: `agent ${Math.floor(random() * 2_000)}` };
    return random() < 0.2 ? { ...sent, [pick(names, "field")]: anything(2) } : sent;
  };
  const json = JSON.stringify(body());
  const cut = random() < 0.05 ? json.slice(0, Math.floor(random() * json.length)) : json;
  const raw = random() < 0.01 ? cut.padEnd(70_000, " ") : cut;
  const slug = random() < 0.9 ? pick(slugs, "none") : encodeURIComponent(text().toWellFormed());
  const headers = new Headers({ "content-type": pick(contentTypes, "") });
  // Mostly addresses of their own, so that the limits do not keep most of it out.
  headers.set("x-forwarded-for", `10.${[16, 8, 0].map((shift) => (at >> shift) & 255).join(".")}`);
  if (random() < 0.1) headers.set("idempotency-key", `key-${Math.floor(random() * 50)}`);
  return new Request(`http://localhost/api/enrich/${slug}`, { method: "POST", headers, body: raw });
}
