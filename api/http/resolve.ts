import { Resolver } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import networks from "#content/editorial/special-networks.json";

/** The IP addresses of a host name. Throws the resolver's error when there are none. */
type Lookup = (host: string) => Promise<string[]>;

/**
 * The address at which to contact a public name; null when none of its addresses is allowed. The owner of a name's DNS can
 * point it into the operator's own network, even between two look-ups, so the caller connects to the very address that was
 * checked. `allowedAddresses` count as public too.
 */
export async function contactAddress(
  host: string,
  ask: Lookup,
  allowedAddresses: readonly string[],
): Promise<string | null> {
  const addresses = await ask(host);
  return (
    addresses.find((address) => isPublicAddress(address) || allowedAddresses.includes(address)) ??
    null
  );
}

/** An IP address as it is written in a URL. */
export const inUrl = (address: string): string =>
  address.includes(":") ? `[${address}]` : address;

/** Asks name servers only, not the hosts file. `server` is an IP address with a port; by default the system's are asked. */
export function openResolver(server: string | undefined) {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (server !== undefined) resolver.setServers([server]);
  const addresses: Lookup = async (host) => {
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(host),
      resolver.resolve6(host),
    ]);
    const hostAddresses = [four, six].flatMap((result) =>
      result.status === "fulfilled" ? result.value : [],
    );
    // A name may have addresses of one family only. There are none only if both queries say so.
    const reasons = [four, six].flatMap((result) =>
      result.status === "rejected" ? [result.reason] : [],
    );
    if (hostAddresses.length === 0 && reasons.length > 0) {
      throw (reasons.find((reason) => !isAbsent(reason)) ?? reasons[0]) as Error;
    }
    return hostAddresses;
  };
  return {
    addresses,
    texts: async (name: string) => (await resolver.resolveTxt(name)).map((part) => part.join("")),
    cancel: () => resolver.cancel(),
  };
}

/** Whether the resolver says that there is no such name or record, rather than that it failed. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ENOTFOUND" || error.code === "ENODATA");

/** Networks that are not part of the public internet. Source: IANA special-purpose address registries. */
const notPublic = new BlockList();
for (const network of networks.ipv4) addTo(notPublic, network, "ipv4");
for (const network of networks.ipv6) addTo(notPublic, network, "ipv6");

/** The global unicast range of IPv6. */
const globalUnicast = new BlockList();
addTo(globalUnicast, "2000::/3", "ipv6");

/** IPv6 forms of IPv4 addresses: mapped, and as NAT64 translates them. */
const holdsIpv4 = new BlockList();
for (const network of ["::ffff:0:0/96", "64:ff9b::/96"]) addTo(holdsIpv4, network, "ipv6");

/** Whether an IP address is on the public internet: not private, local, reserved or translated. */
export function isPublicAddress(address: string): boolean {
  const [ip = ""] = address.split("%");
  const version = isIP(ip);
  if (version === 4) return !notPublic.check(ip, "ipv4");
  if (version !== 6) return false;
  if (holdsIpv4.check(ip, "ipv6")) return isPublicAddress(ipv4In(ip));
  return globalUnicast.check(ip, "ipv6") && !notPublic.check(ip, "ipv6");
}

/** The IPv4 address in the last 32 bits. */
function ipv4In(ip: string): string {
  // URL writes every form of an IPv6 address in groups of hexadecimal digits.
  const [high = "0", low = "0"] = new URL(`http://[${ip}]`).hostname
    .slice(1, -1)
    .split(":")
    .slice(-2);
  const bits = [high, low].map((group) => Number.parseInt(group === "" ? "0" : group, 16));
  return bits.flatMap((group) => [group >> 8, group & 255]).join(".");
}

function addTo(list: BlockList, network: string, type: "ipv4" | "ipv6"): void {
  const [address = "", bits = ""] = network.split("/");
  list.addSubnet(address, Number(bits), type);
}
