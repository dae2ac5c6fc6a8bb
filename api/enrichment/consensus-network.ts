import { createHmac } from "node:crypto";
import { networkOf } from "#api/http/client.ts";
import type { Parts } from "#api/context.ts";

/**
 * A keyed hash of the client's /24 or /48, for the strict consensus mode only: two agents on one network are one voice.
 * Not by the day, because agreement may take longer than that; without the mode nothing is kept.
 */
export function consensusNetwork(
  { config, secrets }: Pick<Parts, "config" | "secrets">,
  request: Request,
): string | null {
  if (config.consensus !== "networks") return null;
  const network = networkOf(request, config);
  const wide = network.includes(":")
    ? network.split(":").slice(0, 3).join(":")
    : /^(\d+\.\d+\.\d+)\.\d+$/.exec(network)?.[1];
  if (wide === undefined) return null;
  return createHmac("sha256", secrets.dailyHashKey)
    .update(`consensus ${wide}`)
    .digest("base64url")
    .slice(0, 22);
}
