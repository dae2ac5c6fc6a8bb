import { lookup } from "node:dns/promises";
import { isPublicAddress } from "#content/operation/public-address.ts";
import { isPublicHost } from "#content/nonprofit/website.ts";

/** Where a message goes: the address to connect to, and the host to name when that is another. */
export type Target = { url: string; host: string | null };

export type TargetOf = (listed: string) => Promise<Target>;

/** The IP addresses of a host name. */
export type Lookup = (host: string) => Promise<string[]>;

const systemLookup: Lookup = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Finds where a listed address leads. Whoever runs the DNS of a public name could point it into the operator's own
 * network: over http such a name has to lead to a public address, and that very one is contacted. Over https the
 * certificate proves who answers; an IP address or a name of the own network is what the operator wrote down.
 */
export const openTargets =
  (ask: Lookup = systemLookup, proxied = isProxied()): TargetOf =>
  async (listed) => {
    const url = new URL(listed);
    const leadsItself = url.protocol !== "http:" || !isPublicHost(url.hostname);
    // A proxy looks names up itself, and decides where they may lead.
    if (leadsItself || proxied) return { url: listed, host: null };
    const found = (await ask(url.hostname)).find(isPublicAddress);
    if (found === undefined) throw new PrivateReceiver(url.hostname);
    const { host } = url;
    url.hostname = found.includes(":") ? `[${found}]` : found;
    return { url: url.href, host };
  };

class PrivateReceiver extends Error {
  override name = "PrivateReceiver";
  constructor(host: string) {
    super(`${host} leads to an address that is not public: list that address itself, or use https`);
  }
}

const isProxied = (): boolean =>
  ["http_proxy", "HTTP_PROXY"].some((name) => (process.env[name] ?? "") !== "");
