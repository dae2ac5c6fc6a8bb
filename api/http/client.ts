import { type LimitName, writeLimits } from "#content/contract/addresses.ts";
import { problem } from "./problem.ts";
import { createHmac } from "node:crypto";
import { type Cache, countedCache } from "#content/runtime/cache.ts";
import type { Config } from "#api/config.ts";
import type { Secrets } from "#api/secrets.ts";
import { agentSecretStart } from "#content/enrichment/agent.ts";

const addresses = new WeakMap<Request, string>();
const senders = new WeakMap<Request, Request>();
/** Cached, because each request is asked several times: for its limits, for what it stores, and for its sender. */
const networks = new WeakMap<Request, string>();
const wideHashes = new WeakMap<Request, string | null>();

/** Stores the socket's address of a request for `networkOf`. The code that reads a request from a socket calls it. */
export const rememberAddress = (request: Request, address: string): void => {
  addresses.set(request, address);
};

/** Makes an internal request count as one of the client for whom the service sends it. */
export const countAsClient = (request: Request, client: Request): void => {
  senders.set(request, client);
};

const forwardingHeaders = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

/** Whether a request comes from this machine itself; one that a local proxy forwards has a forwarding header. */
export const isLocal = (request: Request): boolean =>
  /^(?:127\.|::1$|::ffff:127\.)/.test(addresses.get(request) ?? "") &&
  !forwardingHeaders.some((name) => request.headers.has(name));

/** Whether the service sent this request to itself for a client that called a tool. */
export const isToolCall = (request: Request): boolean => senders.has(request);

/**
 * The network of the client: its IPv4 address, or the first 64 bits of its IPv6 address. With trusted proxies, the
 * address that the outermost of them saw; anything further left in X-Forwarded-For is the client's own claim.
 */
export const networkOf = (request: Request, { trustedHops }: Pick<Config, "trustedHops">): string =>
  onFirstUse(networks, request, (client) => readNetwork(client, trustedHops));

/** Reads a value of a request (for an internal one: of the client's request) on first use, and caches it. */
function onFirstUse<Value>(
  cache: WeakMap<Request, Value>,
  request: Request,
  compute: (request: Request) => Value,
): Value {
  const sender = senders.get(request) ?? request;
  const before = cache.get(sender);
  if (before !== undefined) return before;
  const value = compute(sender);
  cache.set(sender, value);
  return value;
}

function readNetwork(request: Request, trustedHops: number): string {
  const socket = addresses.get(request) ?? "unknown";
  if (trustedHops === 0) return networkPart(socket);
  const header = request.headers.get("x-forwarded-for")?.slice(-1_000) ?? "";
  const hops = header.split(",").flatMap((hop) => hop.trim() || []);
  return networkPart(hops[Math.max(0, hops.length - trustedHops)] ?? socket);
}

/** The /24 or /48 around the result of `networkOf`, which one sender may own as a whole. Null for an unknown address. */
export const wideNetwork = (network: string): string | null =>
  network.includes(":")
    ? network.split(":").slice(0, 3).join(":")
    : (/^(\d+\.\d+\.\d+)\.\d+$/.exec(network)?.[1] ?? null);

const addressLengthMax = 64;

/**
 * "192.0.2.7" → itself; "2001:db8:1:2:3::4" → "2001:db8:1:2::/64"; ports are removed. An IPv6 address that embeds an IPv4
 * one (mapped, NAT64, 6to4, Teredo) gives the IPv4 address, because one host has thousands of such addresses.
 */
export function networkPart(address: string): string {
  const bare = address
    .slice(0, addressLengthMax)
    .toLowerCase()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/%.*$/, "");
  if (!bare.includes(":")) return bare;
  const groups = groupsOf(bare);
  return embeddedIpv4(groups) ?? `${groups.slice(0, 4).join(":")}::/64`;
}

/** The eight groups of an IPv6 address, in lower case without leading zeros. */
function groupsOf(address: string): string[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = "", tail] = hex.split("::", 2);
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const missingCount = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array<string>(missingCount).fill("0"), ...right].map((group) =>
    group === "" ? "0" : group.replace(/^0+(?=.)/, ""),
  );
}

/**
 * Prefixes of IPv6 addresses that embed an IPv4 one, and the group at which it starts. Source: RFC 4291 (mapped), RFC 6052
 * (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo, whose bits are flipped).
 */
const embeddings = [
  { prefix: "0:0:0:0:0:ffff:", at: 6, flipped: 0 },
  { prefix: "64:ff9b:0:0:0:0:", at: 6, flipped: 0 },
  { prefix: "2002:", at: 1, flipped: 0 },
  { prefix: "2001:0:", at: 6, flipped: 0xffff },
] as const;

function embeddedIpv4(groups: readonly string[]): string | null {
  const address = groups.join(":");
  const embedding = embeddings.find(({ prefix }) => address.startsWith(prefix));
  if (embedding === undefined) return null;
  const [high = Number.NaN, low = Number.NaN] = groups
    .slice(embedding.at, embedding.at + 2)
    .map((group) => Number.parseInt(group, 16) ^ embedding.flipped);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/**
 * The client's /24 or /48 as a keyed hash after its family ("4:…", "6:…"); null for an unknown address. It does not change
 * daily, because it is stored with things that outlast midnight: waiting proposals (it decides who may replace one; in the
 * strict consensus mode two agents on one network are one vote) and the bytes stored in 24 hours.
 */
export function networkHash(
  request: Request,
  {
    config,
    secrets,
  }: { config: Pick<Config, "trustedHops">; secrets: Pick<Secrets, "clientHashKey"> },
): string | null {
  return onFirstUse(wideHashes, request, (client) => {
    const network = networkOf(client, config);
    const wide = wideNetwork(network);
    if (wide === null) return null;
    const family = network.includes(":") ? 6 : 4;
    return `${family}:${keyedHash(secrets.clientHashKey, `consensus ${wide}`)}`;
  });
}

/** The secret of `Authorization: Bearer <secret>`, at most 500 characters; null without one. */
export const bearerOf = (request: Request): string | null =>
  /^Bearer +(\S{1,500})$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;

/** An agent's secret from `Authorization: Bearer`; null without one, and for any other token. */
export function agentSecretOf(request: Request): string | null {
  const token = bearerOf(request);
  return token?.startsWith(agentSecretStart) === true ? token : null;
}

const hashesMax = 10_000;
const hashedLengthMax = 250;
const hashesOf = new WeakMap<Uint8Array, { day: number; hashes: Cache<string> }>();

/**
 * A keyed hash of a text, 22 characters. Hashes of the last 10,000 texts of a day are cached: the same clients and
 * programs send many requests, and a hash costs more than the rest of a request's log line.
 */
export function keyedHash(key: Uint8Array, text: string): string {
  const hash = (of: string) =>
    createHmac("sha256", key).update(of).digest("base64url").slice(0, 22);
  if (text.length > hashedLengthMax) return hash(text);
  const day = Math.floor(Date.now() / 86_400_000);
  let today = hashesOf.get(key);
  if (today?.day !== day) {
    // The texts are addresses and user agents of clients, so none is kept beyond its day.
    today = { day, hashes: countedCache(hashesMax, { memoMethod: hash }) };
    hashesOf.set(key, today);
  }
  return today.hashes.memo(text);
}

/**
 * Refuses a write that a page of another site has a browser send, because it would count as the visitor's; null for anything
 * else. An agent's secret lets its owner's pages write; the verb verifies it, so only its presence counts here. Programs do
 * not send the header, and payments (the widget, wallets) prove themselves. Source: W3C, "Fetch Metadata Request Headers".
 */
export function crossSiteWrite(limit: LimitName, client: Request): Response | null {
  if (!Object.hasOwn(writeLimits, limit)) return null;
  if (client.headers.get("sec-fetch-site") !== "cross-site") return null;
  if (limit === "enrich" && agentSecretOf(client) !== null) return null;
  return problem({
    status: 403,
    code: "cross_site_write",
    detail:
      "A page of another site had this browser send it (Sec-Fetch-Site: cross-site), so nothing was stored. Send it from a program or from a page of this directory; enrichments and drafts are also taken from anywhere with the agent's secret in Authorization: Bearer.",
  });
}
