import { Resolver } from "node:dns/promises";
import { isPublicAddress } from "#content/operation/public-address.ts";

/** The IP addresses of a host name; throws with the code of the resolver when there are none. */
type Lookup = (host: string) => Promise<string[]>;

/**
 * The address at which a public name is contacted, null when none of its addresses may be. Who runs the DNS of a name can
 * point it into the operator's own network, and turn it there between two look-ups: the caller connects to the very
 * address that was judged. `allowed` are addresses beside the public ones.
 */
export async function contactAddress(
  host: string,
  ask: Lookup,
  allowed: readonly string[] = [],
): Promise<string | null> {
  const found = await ask(host);
  return found.find((address) => isPublicAddress(address) || allowed.includes(address)) ?? null;
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
    const found = [four, six].flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    // A name with addresses of one family has none of the other. There are none only where both questions say so.
    const reasons = [four, six].flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
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
