import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "#api/config.ts";
import { loadSecrets } from "#api/secrets.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "almoner-secrets-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const load = (env: Record<string, string> = {}) =>
  loadSecrets(readConfig({ ALMONER_DATA_DIR: dataDir, ...env }));

describe("generated secrets", () => {
  test("are made once and found again", () => {
    const first = load();
    const second = load();
    expect(first.newAdminToken).toBe(first.adminTokens[0]?.token ?? "");
    expect(second.newAdminToken).toBeNull();
    expect({ ...second, newAdminToken: first.newAdminToken }).toEqual(first);
    expect(createPrivateKey(first.signingKey).asymmetricKeyType).toBe("ed25519");
    expect(first.dailyHashKey).toHaveLength(32);
  });

  test("lie in files that only the owner reads", () => {
    load();
    const folder = join(dataDir, "secrets");
    expect(readdirSync(folder).sort()).toEqual([
      "admin-token",
      "daily-hash-key",
      "desk-key",
      "donation-memo-key",
      "local-sponsor.json",
      "signing-key.pem",
    ]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
  });

  test("are the same for processes that start at once", async () => {
    const script = `
      import { readConfig } from "#api/config.ts";
      import { loadSecrets } from "#api/secrets.ts";
      console.log(JSON.stringify(loadSecrets(readConfig(process.env)).adminTokens));`;
    const said = await Promise.all(
      [1, 2, 3].map(async () => {
        const env = { ...process.env, ALMONER_DATA_DIR: dataDir };
        const child = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe" });
        return new Response(child.stdout).text();
      }),
    );
    expect(said[0]).toContain("token");
    expect(new Set(said).size).toBe(1);
  });
});

describe("given secrets", () => {
  test("come before generated ones", () => {
    const secrets = load({ ALMONER_ADMIN_TOKENS: "ann:0123456789abcdef0123456789abcdef" });
    expect(secrets.adminTokens).toEqual([
      { name: "ann", token: "0123456789abcdef0123456789abcdef" },
    ]);
    expect(secrets.newAdminToken).toBeNull();
    expect(readdirSync(join(dataDir, "secrets"))).not.toContain("admin-token");
  });

  test("a signing key may be PEM or base64, and must be Ed25519", () => {
    const pem = load().signingKey;
    const base64 = pem.replaceAll(/-----[^-]+-----|\s/g, "");
    expect(load({ ALMONER_SIGNING_KEY: base64 }).signingKey).toBe(pem);
    expect(load({ ALMONER_SIGNING_KEY: pem.replaceAll("\n", "\\n") }).signingKey).toBe(pem);
    expect(() => load({ ALMONER_SIGNING_KEY: "bm90IGEga2V5" })).toThrow("ALMONER_SIGNING_KEY");
  });
});
