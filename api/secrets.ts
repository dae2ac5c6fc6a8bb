import { sha256Of } from "#content/runtime/digest.ts";
import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, sep } from "node:path";
import { closeToOthers, privateFolder } from "#content/runtime/files.ts";
import { hasSigned, noteSigningKeys, signingKeys } from "#content/feed/store.ts";
import { remedyOf } from "#content/operation/checks.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { type Store, storeAddress } from "#content/store/open.ts";
import { directoryFact, noteFact } from "#content/store/facts.ts";
import { CannotStart, explainStart } from "#content/runtime/start-error.ts";
import { BadSetting, type Config } from "./config.ts";
import type { Log } from "./log.ts";

/** Secrets of the operator: from the environment, or generated once and stored in files of mode 0600. */
export type Secrets = ReturnType<typeof loadSecrets>;

/** Reads or makes the secrets; warns of any made again. Throws CannotStart if the signing key has changed. */
export async function openSecrets(
  config: Config,
  store: Store,
  now: Date,
  log: Pick<Log, "warn">,
): Promise<Secrets> {
  await checkSigningKey(config, store, now);
  const there = new Set(secretFiles(config));
  const secrets = loadSecrets(config);
  const storedDigests = await notedSecrets(store);
  const isNew = (name: string) => !(name in storedDigests) || !there.has(name);
  const newFiles = secretFiles(config).filter(isNew);
  for (const name of newFiles.filter((secret) => secret in storedDigests)) {
    log.warn({ file: join(config.dataDir, "secrets", name) }, remadeSecret);
  }
  const digests = Object.fromEntries(newFiles.map((name) => [name, fileDigest(config, name)]));
  const value = JSON.stringify({ ...storedDigests, ...digests });
  if (newFiles.length > 0)
    await store.write((tx) => noteFact(tx, { name: secretsFact, value, now }));
  return secrets;
}

const remadeSecret =
  "a secret was missing and was made again: what the old one signed or opened is void, unless it is put back from a backup";

/** Name of the fact that holds digests of the files in `secrets`, except the signing key. They reveal damage. */
const secretsFact = "secret_digests";

const notedSecrets = async (store: Store): Promise<Record<string, string | null>> =>
  JSON.parse((await directoryFact(store, secretsFact)) ?? "{}");

/** Paths of secrets that are in use but are missing or have changed. */
export const changedSecrets = async (config: Config, store: Store): Promise<string[]> =>
  Object.entries(await notedSecrets(store))
    .filter(([name, digest]) => isRead(config, name) && fileDigest(config, name) !== digest)
    .map(([name]) => join(config.dataDir, "secrets", name));

const alwaysRead = new Set(["onboarding-key", "daily-hash-key", "desk-key", "donation-memo-key"]);

/** Whether the directory reads this file: a setting may replace it, or it may be an operator's own. */
function isRead({ adminTokens, feePayerKey, network }: Config, name: string) {
  if (name === adminTokenFile) return adminTokens.length === 0;
  if (name === sponsorFile) return feePayerKey === undefined && network === "local";
  return alwaysRead.has(name);
}

/** Files that the directory reads but that are missing: a restore without keys has to do without them. */
export function missingSecrets(config: Config): string[] {
  const signs = config.signingKey === undefined ? [signingKeyFile] : [];
  const others = [adminTokenFile, ...alwaysRead].filter((name) => isRead(config, name));
  const there = new Set(secretsOf(config.dataDir));
  return [...signs, ...others].filter((name) => !there.has(name));
}

function secretsOf(dataDir: string): string[] {
  const folder = join(dataDir, "secrets");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => !name.startsWith("."));
}

const secretFiles = ({ dataDir }: Pick<Config, "dataDir">): string[] =>
  secretsOf(dataDir).filter((name) => name !== signingKeyFile);

/** A digest reveals nothing: the secrets are random, 32 bytes or more. Null for a missing file. */
function fileDigest({ dataDir }: Pick<Config, "dataDir">, name: string): string | null {
  const path = join(dataDir, "secrets", name);
  return existsSync(path) ? sha256Of(readFileSync(path)) : null;
}

/**
 * Checks that the directory signs with the same key as before, and records its first key. Throws CannotStart when that key
 * is missing, empty, damaged or different; only a directory that never signed gets a new one.
 */
export async function checkSigningKey(config: Config, store: Store, now: Date): Promise<void> {
  const trouble = await signingKeyTrouble(config, store);
  if (trouble !== null) throw new CannotStart(trouble, remedyOf("signing key"));
  if ((await signingKeys(store)).length > 0) return;
  const { publicKey } = await openSigner(signingKeyOf(config));
  await store.write((tx) => noteSigningKeys(tx, [publicKey], now));
}

/** Why the directory must not sign with the present key; null when it may. */
export async function signingKeyTrouble(config: Config, store: Store): Promise<string | null> {
  const [notedKey] = await signingKeys(store);
  const existing = existingSigningKeyOf(config);
  const place = signingKeyPlace(config);
  const lastKeySentence = notedKey === undefined ? "" : ` It signed with ${notedKey.kid}.`;
  if (existing === null) {
    const isThere = existsSync(join(config.dataDir, "secrets", signingKeyFile));
    return notedKey !== undefined || (await hasSigned(store))
      ? `${place} holds ${isThere ? "a damaged" : "no"} signing key, and this directory has signed before.${lastKeySentence}`
      : null;
  }
  const { publicKey } = await openSigner(existing);
  if (notedKey === undefined || notedKey.kid === publicKey.kid) return null;
  return `${place} holds another signing key than before, ${publicKey.kid}.${lastKeySentence}`;
}

/** Where the signing key is, in words for the operator. */
export const signingKeyPlace = ({
  dataDir,
  signingKey,
}: Pick<Config, "dataDir" | "signingKey">): string =>
  signingKey === undefined ? join(dataDir, "secrets", signingKeyFile) : "ALMONER_SIGNING_KEY";

/** Makes a new signing key, replacing the one in the file. */
export function replaceSigningKey(config: Pick<Config, "dataDir" | "signingKey">): string {
  rmSync(join(config.dataDir, "secrets", signingKeyFile), { force: true });
  return signingKeyOf(config);
}

/** Reads or makes the secrets. When several processes start at once, the first file wins. Throws BadSetting. */
export function loadSecrets(config: Config) {
  const { adminTokens } = config;
  const signingKey = signingKeyOf(config);
  const tokenFile = adminTokens.length > 0 ? null : secretFile(config, adminTokenFile, token);
  const keyIn = (file: string, make = token): Uint8Array =>
    Buffer.from(secretFile(config, file, make).text, "base64url");
  return {
    adminTokens: tokenFile === null ? adminTokens : [{ name: "operator", token: tokenFile.text }],
    /** A token made by this call, to show to the operator once; null when tokens existed already. */
    newAdminToken: tokenFile?.fresh === true ? tokenFile.text : null,
    /** Ed25519 private key of snapshots and receipts: PKCS#8, PEM. */
    signingKey,
    /** Key of challenges, links to status pages and proofs of control. */
    onboardingKey: keyIn("onboarding-key", () => firstOnboardingKey(signingKey)),
    /** Key of the hashes that stand for client addresses. The key itself does not change daily. */
    clientHashKey: clientHashKeyOf(config),
    /** Key of the desk's sessions and forms. */
    deskKey: keyIn("desk-key"),
    /** Key that seals the memos of donations. */
    donationMemoKey: keyIn("donation-memo-key"),
    /** Secret key of the account that pays network fees for donors: base58 or JSON array; null for none. */
    sponsorKey: sponsorKeyOf(config),
  };
}

/**
 * Makes the data folder, closed to other users of the machine. Closes one that was open to them, and its secrets. Returns
 * what the operator has to know about that; null for nothing.
 */
export function closeDataFolder(config: Pick<Config, "dataDir" | "publicDir">): string | null {
  const notes = [closeFolder(config), closeSecrets(config)].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join(" ");
}

function closeSecrets({ dataDir }: Pick<Config, "dataDir">): string | null {
  const folder = join(dataDir, "secrets");
  const names = explained(folder, () => secretsOf(dataDir));
  const paths = [folder, ...names.map((name) => join(folder, name))];
  // All of them are closed; the message names the first.
  const [closed] = paths.filter((path) => closeToOthers(path) === "closed");
  return closed === undefined
    ? null
    : `${closed} was open to other users of this machine and is closed to them now. If one may have read the keys, replace them: \`bun run rotate-key\` makes a new signing key.`;
}

function closeFolder({ dataDir, publicDir }: Pick<Config, "dataDir" | "publicDir">) {
  const done = explained(dataDir, () => privateFolder(dataDir));
  if (done === "private") return null;
  if (done === "shared") {
    return `${dataDir} is a folder that all users of this machine share: set ALMONER_DATA_DIR to one of your own.`;
  }
  if (done === "not ours") {
    return `${dataDir} is open to other users of this machine, and only its owner can close it: chmod 700.`;
  }
  const note = `${dataDir} was open to other users of this machine and is closed to them now.`;
  const inside = publicDir?.startsWith(`${dataDir}${sep}`) === true && existsSync(publicDir);
  return inside
    ? `${note} A web server that runs as another user no longer reads ${publicDir}: set ALMONER_PUBLIC_DIR to a folder outside, and its root too.`
    : note;
}

function explained<Value>(folder: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    return explainStart(error, folder);
  }
}

/** What a first start makes before there is a directory, besides the store itself. */
const madeFirst = /^(?:\.|lost\+found$|chain$|site$|limits\.db)/;

/**
 * Whether the folder contains anything of a directory, even if only its backups: then a missing store must not be made
 * again. Files of the store do not count here.
 */
export function isUsed({ dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">): boolean {
  const store = basename(storeAddress(databaseUrl));
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  return names.some((name) => {
    if (name === "secrets") return secretsOf(dataDir).some((secret) => secret !== sponsorFile);
    return !madeFirst.test(name) && !name.startsWith(store);
  });
}

export const adminTokenFile = "admin-token";
export const signingKeyFile = "signing-key.pem";
/** The local chain makes it, and may start before the directory. */
const sponsorFile = "local-sponsor.json";

/** The signing key alone, read or made, for the publisher. PKCS#8, PEM. Throws BadSetting. */
export const signingKeyOf = (config: Pick<Config, "dataDir" | "signingKey">): string =>
  ed25519(config.signingKey ?? secretFile(config, signingKeyFile, newSigningKey).text);

/** The signing key for commands that only compare; null when there is none, or its file cannot be read. Never makes one. */
export function existingSigningKeyOf(
  config: Pick<Config, "dataDir" | "signingKey">,
): string | null {
  if (config.signingKey !== undefined) return ed25519(config.signingKey);
  try {
    return ed25519(readFileSync(join(config.dataDir, "secrets", signingKeyFile), "utf8").trim());
  } catch {
    return null;
  }
}

/** The sponsor's key alone, because the local chain funds its account. Made only for `local`, where it is worth nothing. */
export const sponsorKeyOf = ({
  dataDir,
  feePayerKey,
  network,
}: Pick<Config, "dataDir" | "feePayerKey" | "network">): string | null =>
  feePayerKey ??
  (network === "local" ? secretFile({ dataDir }, sponsorFile, newSolanaKey).text : null);

/** The key of the hashes of clients alone, read or made: for commands that compare clients. */
export const clientHashKeyOf = (config: Pick<Config, "dataDir">): Uint8Array =>
  Buffer.from(secretFile(config, "daily-hash-key", token).text, "base64url");

/** Derived from the signing key, so that processes with the same one agree; older versions derived it at each start. */
const firstOnboardingKey = (signingKey: string): string =>
  createHmac("sha256", signingKey).update("almoner onboarding").digest("base64url");

const token = () => randomBytes(32).toString("base64url");

const newSigningKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });

/** A keypair in the format of Solana's own tools: a JSON array of the 32 secret bytes and the 32 public ones. */
function newSolanaKey(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", x = "" } = privateKey.export({ format: "jwk" });
  return JSON.stringify([...Buffer.from(d, "base64url"), ...Buffer.from(x, "base64url")]);
}

/** The key as PKCS#8 PEM, from PEM or from the base64 of its DER form. */
function ed25519(text: string): string {
  try {
    const key = text.includes("-----BEGIN")
      ? createPrivateKey(text.replaceAll("\\n", "\n"))
      : createPrivateKey({ key: Buffer.from(text, "base64"), format: "der", type: "pkcs8" });
    if (key.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 key");
    return key.export({ type: "pkcs8", format: "pem" });
  } catch {
    // The cause is left out, because it may quote the key.
    throw new BadSetting(
      "ALMONER_SIGNING_KEY: send an Ed25519 private key in PKCS#8 form, as PEM or base64",
    );
  }
}

/** The text of a secret's file, made once: `link` adds a whole file, and fails if another was first. */
function secretFile({ dataDir }: Pick<Config, "dataDir">, name: string, make: () => string) {
  const folder = join(dataDir, "secrets");
  const path = join(folder, name);
  if (existsSync(path)) return { text: textOf(path), fresh: false };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${name}.${randomBytes(6).toString("hex")}`);
  writeFileSync(draft, `${make().trim()}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
    return { text: textOf(path), fresh: true };
  } catch (cause) {
    if (!existsSync(path)) throw new Error(`cannot keep a secret in ${path}`, { cause });
    return { text: textOf(path), fresh: false };
  } finally {
    unlinkSync(draft);
  }
}

function textOf(path: string): string {
  const text = readFileSync(path, "utf8").trim();
  if (text !== "") return text;
  throw new CannotStart(
    `The secret ${path} is empty.`,
    "Put it back from a backup, or remove the file: a new secret is made, and what the old one signed or opened is void.",
  );
}
