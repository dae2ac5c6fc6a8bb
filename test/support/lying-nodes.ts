import { confirmDonations, sweepDonations } from "#content/giving/sweep.ts";
import { givingWorld } from "#content/giving/world.ts";
import { aDonatingService, type DonatingService } from "./donating.ts";
import { anotherNode, type Lie, type Node } from "./node.ts";

/** A service that asks nodes of its own chain, each with its lie; they stop with it. */
export async function aServiceOfNodes(
  lies: (wallet: string) => readonly Lie[],
): Promise<DonatingService & { nodes: readonly Node[] }> {
  const nodes: Node[] = [];
  const at = await aDonatingService({
    nodes: ({ chain }, wallet) => {
      nodes.push(...lies(wallet).map((lie) => anotherNode(chain, lie)));
      return nodes.map(({ url }) => url);
    },
  });
  const stop = async () => {
    await at.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  return { ...at, nodes, stop };
}

export const honest: Lie = (_, truth) => truth;

/** Knows nothing of what happened lately, and says so without an error. */
export const stale: Lie = ({ method }, truth) => {
  if (method === "getTransaction") return null;
  if (method === "getSignaturesForAddress") return [];
  return method === "getSignatureStatuses" ? { ...(truth as object), value: [null] } : truth;
};

/** Time goes by in steps, after each of which the sweep looks. Answers how many donations were voided. */
export async function sweepFor(
  { chain, service }: DonatingService,
  seconds: number,
  step: number,
): Promise<number> {
  const world = givingWorld(service.context);
  let voided = 0;
  for (let passed = 0; passed < seconds; passed += step) {
    chain.pass(step * 1_000);
    await sweepDonations(world);
    voided += (await confirmDonations(world)).length;
  }
  return voided;
}
