import { describe, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { createPrivateKey } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "#api/config.ts";
import { changedSecrets, loadSecrets, openSecrets, replaceSigningKey } from "#api/secrets.ts";
import { KeySet, keySetOf, openSigner } from "#content/feed/signing-keys.ts";
import { signingKeys } from "#content/feed/store.ts";
import { readAudit } from "#content/operation/audit-store.ts";
import type { Store } from "#content/store/open.ts";
import { openBlankStore } from "#test/support/blank-store.ts";
import { runScript } from "#test/support/processes.ts";
import { aSigningKey } from "#test/support/publisher.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const dataDir = forEachTest(aFolder);

const config = (env: Record<string, string> = {}) =>
  readConfig({ ALMONER_DATA_DIR: dataDir(), ...env });
const load = (env: Record<string, string> = {}) => loadSecrets(config(env));
const annToken = "0123456789abcdef0123456789abcdef";
const aStore = () => openBlankStore(`file:${dataDir("store.db")}`);
const open = (store: Store, env = {}) => openSecrets(config(env), store, new Date(), log);
const pathOf = (name: string) => dataDir("secrets", name);

describe("generated secrets", () => {
  test("are made once and found again", () => {
    const first = load();
    const second = load();
    expect(first.newAdminToken).toBe(first.adminTokens[0]?.token ?? "");
    expect(second.newAdminToken).toBeNull();
    expect({ ...second, newAdminToken: first.newAdminToken }).toEqual(first);
    expect(createPrivateKey(first.signingKey).asymmetricKeyType).toBe("ed25519");
    expect(first.clientHashKey).toHaveLength(32);
  });

  test("lie in files that only the owner reads", () => {
    load();
    const folder = dataDir("secrets");
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

  test("are those of the process that was first, of processes that start at once", () => {
    const { newAdminToken: _, ...first } = load();
    const seen = new Set<string>();
    // Each file comes up after the second process has looked for it.
    const exists = spyOn(fs, "existsSync").mockImplementation((path) => {
      const before = seen.has(String(path));
      seen.add(String(path));
      return before;
    });
    expect(load()).toEqual({ ...first, newAdminToken: null });
    expect(seen).toContain(pathOf("signing-key.pem"));
    exists.mockRestore();
    expect(readdirSync(dataDir("secrets"))).not.toContainEqual(expect.stringMatching(/^\./));
  });
});

test("an empty secret is refused by its path, and not replaced", () => {
  load();
  for (const name of readdirSync(dataDir("secrets"))) {
    const path = pathOf(name);
    const text = readFileSync(path);
    writeFileSync(path, "");
    expect(() => load()).toThrow(`The secret ${path} is empty.\nPut it back from a backup`);
    writeFileSync(path, text);
  }
});

const warned: unknown[] = [];
const log = { warn: (...said: unknown[]) => void warned.push(said[0]) };

test("a secret that is gone is made again, with a warning", async () => {
  using store = await aStore();
  await open(store);
  expect(warned).toEqual([]);
  const file = pathOf("desk-key");
  rmSync(file);
  await open(store);
  expect(warned).toEqual([{ file }]);
});

test("a secret whose file is no longer read has not changed", async () => {
  using store = await aStore();
  await open(store);
  const changed = async (env = {}) => (await changedSecrets(config(env), store)).sort();
  const paths = ["admin-token", "local-sponsor.json"].map(pathOf);
  for (const path of paths) writeFileSync(path, "another");
  expect(await changed()).toEqual(paths);
  for (const path of paths) rmSync(path);
  expect(await changed()).toEqual(paths);
  const inSettings = {
    ALMONER_ADMIN_TOKENS: `ann:${annToken}`,
    ALMONER_NETWORK: "solana",
    ALMONER_SOLANA_RPC_URLS: "https://rpc.example.com",
  };
  expect(await changed(inSettings)).toEqual([]);
  // An operator's own file is no secret of the directory.
  const copy = pathOf("signing-key.pem.bak");
  writeFileSync(copy, "a copy");
  await open(store, inSettings);
  rmSync(copy);
  expect(await changed(inSettings)).toEqual([]);
});

describe("the signing key of a directory that has signed", () => {
  const path = () => pathOf("signing-key.pem");
  const stored = () => existsSync(path()) && readFileSync(path(), "utf8");

  test.each<[name: string, damage: () => void, says: RegExp]>([
    ["missing", () => rmSync(path()), /signing-key\.pem holds no signing key/],
    ["empty", () => writeFileSync(path(), ""), /signing-key\.pem holds a damaged signing key/],
    ["damaged", () => writeFileSync(path(), "xx"), /signing-key\.pem holds a damaged signing key/],
    ["changed", () => replaceSigningKey(config()), /holds another signing key than before/],
  ])("is not replaced when it is %s", async (_, damage, says) => {
    using store = await aStore();
    const first = await open(store);
    expect(await open(store)).toEqual({ ...first, newAdminToken: null });
    damage();
    const before = stored();
    const refused = await open(store).then(() => "opened", String);
    expect(refused).toMatch(says);
    expect(refused).toMatch(/\n.*`bun run rotate-key`/);
    expect(stored()).toBe(before);
  });

  test("is rotated by a command, which keeps the old key for verification and links as they are", async () => {
    using store = await aStore();
    const first = await open(store);
    const old = await openSigner(first.signingKey);
    await rotate();
    const second = await open(store);
    const { signingKey, newAdminToken } = first;
    expect({ ...second, signingKey, newAdminToken }).toEqual(first);
    const now = await openSigner(second.signingKey);
    expect(await signingKeys(store)).toEqual([now.publicKey, old.publicKey]);
    const set = KeySet.parse(JSON.parse(keySetOf(now, await signingKeys(store))));
    expect(set.keys.map(({ kid }) => kid)).toEqual([now.publicKey.kid, old.publicKey.kid]);
    // One that somebody put there is taken, and a compromised one forgotten.
    const given = aSigningKey();
    writeFileSync(path(), given);
    await rotate("--compromised");
    const third = await openSigner(given);
    const action = "signing_key.rotated";
    expect(await signingKeys(store)).toEqual([third.publicKey, old.publicKey]);
    expect((await readAudit({ store }, { limit: 5, before: undefined })).entries).toMatchObject([
      { action, subject: third.publicKey.kid, detail: { compromised: true } },
      { action, subject: now.publicKey.kid },
    ]);
  });

  async function rotate(...options: string[]) {
    const ended = await runScript("rotate-key", options, { ALMONER_DATA_DIR: dataDir() });
    expect(ended).toMatchObject({ code: 0, err: "" });
  }
});

describe("given secrets", () => {
  test("come before generated ones", () => {
    const secrets = load({ ALMONER_ADMIN_TOKENS: `ann:${annToken}` });
    expect(secrets.adminTokens).toEqual([{ name: "ann", token: annToken }]);
    expect(secrets.newAdminToken).toBeNull();
    expect(readdirSync(dataDir("secrets"))).not.toContain("admin-token");
  });

  test("a signing key may be PEM or base64, and must be Ed25519", () => {
    const pem = load().signingKey;
    const base64 = pem.replaceAll(/-----[^-]+-----|\s/g, "");
    expect(load({ ALMONER_SIGNING_KEY: base64 }).signingKey).toBe(pem);
    expect(load({ ALMONER_SIGNING_KEY: pem.replaceAll("\n", "\\n") }).signingKey).toBe(pem);
    expect(() => load({ ALMONER_SIGNING_KEY: "bm90IGEga2V5" })).toThrow("ALMONER_SIGNING_KEY");
  });
});
