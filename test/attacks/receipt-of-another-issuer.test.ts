import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "#api/config.ts";
import { signingKeyOf } from "#api/secrets.ts";
import { correctionOf, signedAnswer, signReceipt } from "#content/giving/receipt.ts";
import { keySetOf, openSigner, type Signer } from "#content/feed/signing-keys.ts";
import { runScript } from "#test/support/processes.ts";
import { aSigningKey } from "#test/support/publisher.ts";
import { aReceipt } from "#test/support/receipts.ts";
import { theFolder } from "#test/support/at-file-top.ts";
import { serveHere } from "#test/support/serve-here.ts";

/** What the issuer answers now, in place of a receipt. */
let live = "";
// The attacker runs an issuer: a host of its own that publishes a key of its own.
const attacker = await openSigner(aSigningKey());
const keys = keySetOf(attacker);
const host = serveHere(({ url }) => new Response(url.includes("/api/donations/") ? live : keys));
const dataDir = theFolder();
afterAll(() => host.stop(true));

const evil = () => `http://127.0.0.1:${host.port}`;

const signedBy = async (signer: Signer, issuer: string) => {
  const receipt = aReceipt({ issuer, amount_usdc: 9e9, amount_atomic: "9000000000000000" });
  return JSON.stringify(signedAnswer(receipt, await signReceipt(receipt, signer)));
};

async function verify(text: string, words: string[], env: Record<string, string> = {}) {
  const own = { ALMONER_DATA_DIR: dataDir, ...env };
  const file = join(dataDir, "receipt.json");
  writeFileSync(file, text);
  const { code, out } = await runScript("verify", [file, "--json", ...words], own);
  return { code, ...(JSON.parse(out) as { message?: string }) };
}

test("the receipt of an issuer that nobody named is not valid, and the answer says whose it is", async () => {
  const answer = await verify(await signedBy(attacker, evil()), []);
  expect(answer).toMatchObject({ code: 1, valid: false, kind: "not_pinned", issuer: evil() });
  expect(answer.message).toContain(
    `signed by ${evil()}'s key ${attacker.publicKey.kid}, which you did not pin: NOT VERIFIED`,
  );
});

test("the directory that is named has to be the issuer, and its key has to have signed", async () => {
  const real = "https://almoner.example";
  const foreign = await verify(await signedBy(attacker, evil()), ["--issuer", real]);
  expect(foreign).toMatchObject({ code: 1, kind: "other_issuer", issuer: evil() });
  const settings = { ALMONER_BASE_URL: evil() };
  const other = await openSigner(aSigningKey());
  expect(await verify(await signedBy(other, evil()), [], settings)).toMatchObject({
    code: 1,
    kind: "wrong_key",
  });
});

test("who names the issuer, or has its key, hears VALID and by what", async () => {
  const text = await signedBy(attacker, evil());
  expect(await verify(text, ["--issuer", `${evil()}/`])).toMatchObject({
    code: 0,
    valid: true,
    issuer: evil(),
    pinned_by: "--issuer",
  });
  const byId = ["--key", attacker.publicKey.kid];
  expect(await verify(text, byId)).toMatchObject({ code: 0, valid: true, pinned_by: "--key" });
  const own = await openSigner(signingKeyOf(readConfig({ ALMONER_DATA_DIR: dataDir })));
  // Without a network: no host answers for this issuer.
  expect(await verify(await signedBy(own, "http://127.0.0.1:9"), [])).toMatchObject({
    code: 0,
    pinned_by: "own key",
  });
});

test("a copy without its correction is void where the issuer is asked, and else says what it does not know", async () => {
  const receipt = aReceipt({ issuer: evil() });
  const copy = JSON.stringify(signedAnswer(receipt, await signReceipt(receipt, attacker)));
  const offline = await verify(copy, ["--key", attacker.publicKey.x]);
  expect(offline).toMatchObject({ code: 0, valid: true, void_checked: false });
  live = copy;
  const held = await verify(copy, ["--issuer", evil()]);
  expect(held).toMatchObject({ code: 0, void_checked: true });
  const { id, evidence } = receipt;
  const voided = { voided_at: 1, void_reason: "vanished" } as const;
  const { tx_signature } = evidence;
  const correction = correctionOf({ id, tx_signature, ...voided }, evil());
  if (correction === null) throw new Error("no correction");
  const signature = await signReceipt(correction, attacker);
  live = JSON.stringify({ ...JSON.parse(copy), correction: { correction, signature } });
  const taken = await verify(copy, ["--issuer", evil()]);
  expect(taken).toMatchObject({ code: 1, kind: "voided" });
});
