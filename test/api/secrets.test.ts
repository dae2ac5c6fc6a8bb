import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "#api/config.ts";
import { changedSecrets, loadSecrets, openSecrets, replaceSigningKey } from "#api/secrets.ts";
import { KeySet, keySetOf, openSigner } from "#content/feed/signing-keys.ts";
import { signingKeys } from "#content/feed/store.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import { openStore } from "#content/store/open.ts";
import { aSigningKey } from "#test/support/publisher.ts";

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
      "onboarding-key",
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

test("an empty secret is refused by its path, and not replaced", () => {
  load();
  for (const name of readdirSync(join(dataDir, "secrets"))) {
    const path = join(dataDir, "secrets", name);
    const text = readFileSync(path);
    writeFileSync(path, "");
    expect(() => load()).toThrow(`The secret ${path} is empty.\nPut it back from a backup`);
    writeFileSync(path, text);
  }
});

const warned: unknown[] = [];
const log = { warn: (...said: unknown[]) => void warned.push(said[0]) };

test("a secret that is gone is made again, with a warning", async () => {
  const config = readConfig({ ALMONER_DATA_DIR: dataDir });
  using store = await openStore({ url: `file:${join(dataDir, "store.db")}` });
  await openSecrets(config, store, new Date(), log);
  expect(warned).toEqual([]);
  const file = join(dataDir, "secrets/desk-key");
  rmSync(file);
  await openSecrets(config, store, new Date(), log);
  expect(warned).toEqual([{ file }]);
});

test("a secret whose file is no longer read has not changed", async () => {
  const open = (env = {}) => readConfig({ ALMONER_DATA_DIR: dataDir, ...env });
  using store = await openStore({ url: `file:${join(dataDir, "store.db")}` });
  await openSecrets(open(), store, new Date(), log);
  const moved = ["admin-token", "local-sponsor.json"];
  const paths = moved.map((name) => join(dataDir, "secrets", name)).sort();
  for (const path of paths) writeFileSync(path, "another");
  expect((await changedSecrets(open(), store)).sort()).toEqual(paths);
  for (const path of paths) rmSync(path);
  expect((await changedSecrets(open(), store)).sort()).toEqual(paths);
  const inSettings = {
    ALMONER_ADMIN_TOKENS: "ann:0123456789abcdef0123456789abcdef",
    ALMONER_NETWORK: "solana",
    ALMONER_SOLANA_RPC_URLS: "https://rpc.example.com",
  };
  expect(await changedSecrets(open(inSettings), store)).toEqual([]);
  // An operator's own file is no secret of the directory.
  const copy = join(dataDir, "secrets/signing-key.pem.bak");
  writeFileSync(copy, "a copy");
  await openSecrets(open(inSettings), store, new Date(), log);
  rmSync(copy);
  expect(await changedSecrets(open(inSettings), store)).toEqual([]);
});

describe("the signing key of a directory that has signed", () => {
  const config = (env = {}) => readConfig({ ALMONER_DATA_DIR: dataDir, ...env });
  const path = () => join(dataDir, "secrets/signing-key.pem");

  test.each<[name: string, damage: () => void, says: RegExp]>([
    ["missing", () => rmSync(path()), /signing-key\.pem holds no signing key/],
    ["empty", () => writeFileSync(path(), ""), /signing-key\.pem holds a damaged signing key/],
    ["damaged", () => writeFileSync(path(), "xx"), /signing-key\.pem holds a damaged signing key/],
    ["changed", () => replaceSigningKey(config()), /holds another signing key than before/],
  ])("is not replaced when it is %s", async (_, damage, says) => {
    using store = await openStore({ url: `file:${join(dataDir, "store.db")}` });
    const first = await openSecrets(config(), store, new Date(), log);
    expect(await openSecrets(config(), store, new Date(), log)).toEqual({
      ...first,
      newAdminToken: null,
    });
    damage();
    const before = existsSync(path()) && readFileSync(path(), "utf8");
    const refused = await openSecrets(config(), store, new Date(), log).then(
      () => "opened",
      (error: Error) => error.message,
    );
    expect(refused).toMatch(says);
    expect(refused).toMatch(/\n.*`bun run rotate-key`/);
    expect(existsSync(path()) && readFileSync(path(), "utf8")).toBe(before);
  });

  test("is rotated by a command, which keeps the old key for verification and links as they are", async () => {
    using store = await openStore({ url: `file:${join(dataDir, "store.db")}` });
    const first = await openSecrets(config(), store, new Date(), log);
    const old = await openSigner(first.signingKey);
    await rotate();
    const second = await openSecrets(config(), store, new Date(), log);
    expect({ ...second, signingKey: first.signingKey, newAdminToken: first.newAdminToken }).toEqual(
      first,
    );
    const now = await openSigner(second.signingKey);
    expect(await signingKeys(store)).toEqual([now.publicKey, old.publicKey]);
    const set = KeySet.parse(JSON.parse(keySetOf(now, await signingKeys(store))));
    expect(set.keys.map(({ kid }) => kid)).toEqual([now.publicKey.kid, old.publicKey.kid]);
    // One that somebody put there is taken, and a compromised one forgotten.
    const given = aSigningKey();
    writeFileSync(path(), given);
    await rotate("--compromised");
    const third = await openSigner(given);
    expect(await signingKeys(store)).toEqual([third.publicKey, old.publicKey]);
    expect((await readAudit({ store }, { limit: 5, before: undefined })).entries).toMatchObject([
      {
        action: "signing_key.rotated",
        subject: third.publicKey.kid,
        detail: { compromised: true },
      },
      { action: "signing_key.rotated", subject: now.publicKey.kid },
    ]);
  });

  async function rotate(...options: string[]) {
    const child = Bun.spawn([process.execPath, "scripts/rotate-key.ts", ...options], {
      env: { ...process.env, ALMONER_DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(await child.exited).toBe(0);
  }
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
