import { BlockList, isIP } from "node:net";
import networks from "#content/editorial/special-networks.json";

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
