import { Resolver } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import networks from "#content/editorial/special-networks.json";

/** The IP addresses of a host name; throws with the code of the resolver when there are none. */
type Lookup = (host: string) => Promise<string[]>;

/**
 * The address at which a public name is contacted, null when none of its addresses may be. Who runs the DNS of a name can
 * point it into the operator's own network, and turn it there between two look-ups: the caller connects to the very
 * address that was judged. `allowedAddresses` are addresses beside the public ones.
 */
export async function contactAddress(
  host: string,
  ask: Lookup,
  allowedAddresses: readonly string[] = [],
): Promise<string | null> {
  const addresses = await ask(host);
  return (
    addresses.find((address) => isPublicAddress(address) || allowedAddresses.includes(address)) ??
    null
  );
}

/** An IP address as it stands in a URL. */
export const inUrl = (address: string): string =>
  address.includes(":") ? `[${address}]` : address;

/** Asks name servers and nothing else: no hosts file. `server`: an IP address, with a port; else those of the system. */
export function openResolver(server: string | undefined) {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (server !== undefined) resolver.setServers([server]);
  const addresses: Lookup = async (host) => {
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(host),
      resolver.resolve6(host),
    ]);
    const found = [four, six].flatMap((result) =>
      result.status === "fulfilled" ? result.value : [],
    );
    // A name with addresses of one family has none of the other. There are none only where both questions say so.
    const reasons = [four, six].flatMap((result) =>
      result.status === "rejected" ? [result.reason] : [],
    );
    if (found.length === 0 && reasons.length > 0) {
      throw (reasons.find((reason) => !isAbsent(reason)) ?? reasons[0]) as Error;
    }
    return found;
  };
  return {
    addresses,
    texts: async (name: string) => (await resolver.resolveTxt(name)).map((part) => part.join("")),
    cancel: () => resolver.cancel(),
  };
}

/** Whether a resolver says that there is no such name or record, and not that it could not find out. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ENOTFOUND" || error.code === "ENODATA");

/** Networks that are no part of the public internet. Source: IANA special-purpose address registries. */
const notPublic = new BlockList();
for (const network of networks.ipv4) addTo(notPublic, network, "ipv4");
for (const network of networks.ipv6) addTo(notPublic, network, "ipv6");

/** All of IPv6 that is given to anybody to be reached at. */
const privateAddresses = new BlockList();
addTo(privateAddresses, "2000::/3", "ipv6");

/** IPv4 in the clothes of IPv6: mapped, and as NAT64 translates it. */
const holdsIpv4 = new BlockList();
for (const network of ["::ffff:0:0/96", "64:ff9b::/96"]) addTo(holdsIpv4, network, "ipv6");

/** Whether an IP address is one on the public internet: no private, local, reserved or translated one. */
export function isPublicAddress(address: string): boolean {
  const [ip = ""] = address.split("%");
  const version = isIP(ip);
  if (version === 4) return !notPublic.check(ip, "ipv4");
  if (version !== 6) return false;
  if (holdsIpv4.check(ip, "ipv6")) return isPublicAddress(ipv4In(ip));
  return privateAddresses.check(ip, "ipv6") && !notPublic.check(ip, "ipv6");
}

/** The IPv4 address in the last 32 bits. */
function ipv4In(ip: string): string {
  // URL writes every form in groups of hexadecimal digits.
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
