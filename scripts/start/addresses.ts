import type { Config } from "#api/config.ts";
import type { Secrets } from "#api/secrets.ts";

/** Prints the addresses worth opening, and once the directory is whole, says so. */
export function showAddresses(
  { baseUrl, dataDir }: Config,
  { newAdminToken }: Secrets,
  { example, localChain }: { example: string | null; localChain: string | null },
): void {
  const lines = [
    "",
    `Almoner is answering at ${baseUrl}`,
    "",
    `  people         ${baseUrl}/`,
    ...(example === null ? [] : [`  a profile      ${baseUrl}/nonprofits/${example}`]),
    ...(example === null ? [] : [`  as JSON        ${baseUrl}/api/nonprofits/${example}`]),
    `  causes         ${baseUrl}/causes`,
    `  statistics     ${baseUrl}/api/stats`,
    `  operators      ${baseUrl}/desk`,
    `  plain files    ${dataDir}/public`,
    ...(localChain === null
      ? []
      : [`  local Solana   ${localChain} (no real money; bun run chain --help)`]),
    "",
  ];
  if (newAdminToken !== null) {
    lines.push(
      `The operator's token, shown this once: ${newAdminToken}`,
      `Sign in with it at ${baseUrl}/desk`,
      "",
    );
  }
  console.log(lines.join("\n"));
}
