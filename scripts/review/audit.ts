import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import type { Config } from "#api/config.ts";
import { signingKeyOf } from "#api/secrets.ts";
import { feedPaths } from "#content/contract/feed.ts";
import { keyIdOf, openSigner, type PublicKey, verifyDetached } from "#content/feed/signing-keys.ts";
import {
  type AuditFault,
  type AuditHead,
  AuditHeads,
  auditHeadsFact,
  signedTextOf,
  verifyAudit,
} from "#content/operation/audit-chain-store.ts";
import { directoryFact } from "#content/operation/directory-facts-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { configOrExit, stopWith } from "#scripts/support/config.ts";
import { json } from "#scripts/support/operator-api.ts";

const waitMs = 30_000;

/** `review audit`: looks at the store itself, not through the service, which whoever changed the log may have changed too. */
export const audit = defineCommand({
  meta: {
    name: "audit",
    description:
      "Checks that the audit log is as it was written, by its hashes and by the heads that were published; exit code 1 when it is not",
  },
  args: {
    verify: { type: "boolean", description: "Check every entry (required)" },
    heads: {
      type: "string",
      description:
        "A copy of changes/audit.json to compare with, from a mirror or a backup: a file or a URL",
    },
    json,
  },
  run: async ({ args }) => {
    if (args.verify !== true)
      stopWith("review audit: give --verify. The log itself: review log.", 2);
    const config = configOrExit();
    const { databaseUrl: url, databaseToken: authToken } = config;
    using store = await openStore({ url, authToken });
    const found = await verified(store, config, args.heads);
    if (found.faults.length > 0) process.exitCode = 1;
    const ok = found.faults.length === 0;
    if (args.json === true) return console.log(JSON.stringify({ ok, ...found }));
    for (const { id, problem } of found.faults) console.log(`Entry ${id} ${problem}.`);
    const { entries, hash, heads, other_keys } = found;
    console.log(
      `${ok ? "The log is as it was written" : "THE LOG WAS CHANGED"}: ${entries} entries, head ${hash || "none"}, compared with ${heads} published heads.`,
    );
    if (other_keys.length > 0) {
      console.log(`Signed by a key that is not the one in use: ${other_keys.join(", ")}.`);
    }
  },
});

async function verified(store: Store, config: Config, given: string | undefined) {
  const stored = await directoryFact(store, auditHeadsFact);
  const shown = join(config.publicDir, feedPaths.audit);
  const heads = [
    ...headsFrom(stored ?? '{"heads":[]}', "the store"),
    ...(existsSync(shown) ? headsFrom(await Bun.file(shown).text(), shown) : []),
    ...(given === undefined ? [] : headsFrom(await textAt(given), given)),
  ];
  const { publicKey } = await openSigner(signingKeyOf(config));
  const signatures = await signatureFaults(heads, publicKey);
  const { faults, ...log } = await verifyAudit(store, heads);
  return {
    ...log,
    heads: new Set(heads.map(({ day, hash }) => `${day} ${hash}`)).size,
    other_keys: signatures.otherKeys,
    faults: [...faults, ...signatures.faults],
  };
}

function headsFrom(text: string, from: string): AuditHead[] {
  try {
    return AuditHeads.parse(JSON.parse(text)).heads;
  } catch {
    return stopWith(`${from}: these are no heads of an audit log.`, 2);
  }
}

async function textAt(place: string): Promise<string> {
  const isUrl = /^https?:/.test(place);
  try {
    if (!isUrl) return await Bun.file(place).text();
    const answer = await fetch(place, { signal: AbortSignal.timeout(waitMs) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return await answer.text();
  } catch (error) {
    return stopWith(`--heads: ${place} cannot be read (${String(error)}).`, 2);
  }
}

/** A head that the key in use did not sign: one that names this key is forged, others are of an earlier key. */
async function signatureFaults(heads: readonly AuditHead[], key: PublicKey) {
  const faults: AuditFault[] = [];
  const otherKeys = new Set<string>();
  for (const head of heads) {
    const text = new TextEncoder().encode(signedTextOf(head));
    if ((await verifyDetached(head.jws, text, key)).ok) continue;
    const signedBy = keyIdOf(head.jws);
    if (signedBy !== key.kid) otherKeys.add(signedBy);
    else
      faults.push({
        id: head.entries,
        problem: `has a head of ${head.day} with a false signature`,
      });
  }
  return { faults, otherKeys: [...otherKeys] };
}
