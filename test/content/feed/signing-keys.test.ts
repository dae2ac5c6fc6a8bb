import { describe, expect, test } from "bun:test";
import {
  isSignatureOf,
  keyIdOf,
  keySetOf,
  KeySet,
  openSigner,
  publicKeyOf,
} from "#content/feed/signing-keys.ts";
import { aSigningKey } from "#test/support/publisher.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a detached signature", () => {
  test("as in RFC 8037, appendix A.4, is accepted", async () => {
    const key = await publicKeyOf("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    expect(key.kid).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"); // Appendix A.3.
    const jws =
      "eyJhbGciOiJFZERTQSJ9..hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    expect(await isSignatureOf(jws, bytes("Example of Ed25519 signing"), key)).toBe(true);
    expect(await isSignatureOf(jws, bytes("Example of ed25519 signing"), key)).toBe(false);
  });
  test("is the same for the same bytes and key", async () => {
    const signer = await openSigner(aSigningKey());
    const first = await signer.sign(bytes("list"));
    expect(await signer.sign(bytes("list"))).toBe(first);
    expect(await isSignatureOf(`${first}\n`, bytes("list"), signer.publicKey)).toBe(true);
  });
  test("by another key is refused", async () => {
    const one = await openSigner(aSigningKey());
    const other = await openSigner(aSigningKey());
    const jws = await other.sign(bytes("list"));
    expect(await isSignatureOf(jws, bytes("list"), one.publicKey)).toBe(false);
  });
  test.each(["", "a.b", "a.b.c", "..", "e30..", "eyJhbGciOiJub25lIn0.."])(
    "%j is no signature",
    async (jws) => {
      const { publicKey } = await openSigner(aSigningKey());
      expect(await isSignatureOf(jws, bytes("list"), publicKey)).toBe(false);
    },
  );
});

test("the published key set holds the public key only", async () => {
  const signer = await openSigner(aSigningKey());
  const set = JSON.parse(keySetOf(signer));
  expect(KeySet.parse(set).keys).toEqual([signer.publicKey]);
  expect(Object.keys(set.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
});

test("a text that is no key is refused without being quoted", async () => {
  const refused = await openSigner(
    "-----BEGIN PRIVATE KEY-----\nsecret-text\n-----END PRIVATE KEY-----",
  ).catch((error: Error) => error);
  expect(refused).toBeInstanceOf(Error);
  expect(Bun.inspect(refused)).toContain("not an Ed25519 private key");
  expect(refused).not.toMatchObject({ message: expect.stringContaining("secret-text") });
});

describe("the id that a signature names", () => {
  const naming = (kid: unknown) =>
    `${Buffer.from(JSON.stringify({ alg: "EdDSA", kid })).toString("base64url")}..c2ln`;

  test("is the thumbprint of the key that signed", async () => {
    const signer = await openSigner(aSigningKey());
    const jws = await signer.sign(new TextEncoder().encode("list"));
    expect(keyIdOf(`${jws}\n`)).toBe(signer.publicKey.kid);
  });

  const hostile = ["\u001b[2Jall fine", "short", undefined].map(naming);
  test.each(["", "no jws", "...", ...hostile])("%j names no key", (jws) =>
    expect(keyIdOf(jws)).toBeNull(),
  );
});
