import { describe, expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { isSignedBy, readWallet, signedByWallet } from "#content/giving/wallet.ts";
import {
  challengeFor,
  challengeLifeMs,
  checkWalletProof,
} from "#content/onboarding/wallet-challenge.ts";
import { aWallet } from "#test/support/wallets.ts";

const wallet = (address: string) => {
  const read = readWallet(address);
  if (!read.ok) throw new Error(read.failure);
  return read.value;
};

describe("a wallet", () => {
  test.each([
    ["another text", ["", "x", "0OIl", "1111", "0x52908400098527886E0F7030069857D2E4169EE7"]],
    ["of other bytes", ["1".repeat(33), "1".repeat(44), "z".repeat(44), "z".repeat(10_000)]],
    ["of other letters", [`${"1".repeat(31)}é`]],
    ["a program's", ["11111111111111111111111111111111"]],
    ["a mint's", ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"]],
    ["the incinerator's", ["1nc1nerator11111111111111111111111111111111"]],
    ["a stake's", ["Stake11111111111111111111111111111111111111"]],
    ["a sysvar's", ["SysvarRent111111111111111111111111111111111"]],
    // Anybody could sign for a key of small order.
    ["of a small order", [bs58.encode(Buffer.from("01".padEnd(64, "0"), "hex"))]],
  ])("is not %s", (_, texts) => {
    expect(texts.filter((text) => readWallet(text).ok)).toEqual([]);
  });

  test("lies on the curve exactly when Solana's own library says so", () => {
    const seed = new Uint8Array(32);
    let onCurve = 0;
    for (let at = 0; at < 500; at++) {
      seed.set([at & 255, at >> 8, (at * 7) & 255], 4);
      const bytes = ed25519.utils.getExtendedPublicKey(seed).head; // Any 32 bytes that change.
      const read = readWallet(` ${bs58.encode(bytes)} `);
      expect(read.ok && read.value.onCurve).toBe(PublicKey.isOnCurve(bytes));
      if (read.ok && read.value.onCurve) onCurve++;
    }
    expect(onCurve).toBeWithin(150, 350);
  });

  test("of a program is accepted off the curve", () => {
    const [vault] = PublicKey.findProgramAddressSync([Buffer.from("vault")], PublicKey.default);
    expect(wallet(vault.toBase58()).onCurve).toBe(false);
  });
});

describe("a signature", () => {
  test("counts for its wallet and its text only", () => {
    const { address, sign } = aWallet();
    const signature = sign("text");
    expect(signedByWallet(wallet(address), "text", signature)).toBe(true);
    expect(signedByWallet(wallet(address), "text ", signature)).toBe(false);
    expect(signedByWallet(wallet(aWallet().address), "text", signature)).toBe(false);
    expect(signedByWallet({ address, onCurve: false }, "text", signature)).toBe(false);
    for (const other of ["", "x", "1".repeat(64), address]) {
      expect(signedByWallet(wallet(address), "text", other)).toBe(false);
    }
  });

  test.each(["", "x", "1".repeat(33), "z".repeat(44)])(
    "by %s, which is no address, counts for nothing",
    (address) => {
      expect(isSignedBy(address, Buffer.from("text"), new Uint8Array(64))).toBe(false);
    },
  );
});

describe("a challenge", () => {
  const issuer = { host: "almoner.example", seal: (text: string) => `code-of-${text.length}` };
  const now = new Date("2026-06-01T12:00:30Z");
  const { address, sign } = aWallet();
  const at = (ms: number) => ({ now: new Date(now.getTime() + ms), issuer });
  const { text, issuedAtMs, expiresAtMs } = challengeFor(address, now, issuer);
  const kindOf = (sent: { challenge: string | null; signature: string }, ms = 0) => {
    const checked = checkWalletProof(wallet(address), sent, at(ms));
    return checked.ok ? "ok" : checked.failure.kind;
  };

  test("names site, wallet and time, and is the same for a minute", () => {
    expect(text).toContain("almoner.example");
    expect(text).toContain(address);
    expect(new Date(issuedAtMs).toISOString()).toBe("2026-06-01T12:00:00.000Z");
    expect(expiresAtMs - issuedAtMs).toBe(challengeLifeMs);
    expect(challengeFor(address, new Date(now.getTime() + 29_000), issuer).text).toBe(text);
    expect(challengeFor(address, new Date(now.getTime() + 30_000), issuer).text).not.toBe(text);
  });

  test("is known again, by itself or by its signature, until it expires", () => {
    const signature = sign(text);
    for (const challenge of [text, text.replaceAll("\n", "\r\n"), `${text}\n`, null]) {
      expect(kindOf({ challenge, signature })).toBe("ok");
      expect(kindOf({ challenge, signature }, challengeLifeMs - 30_001)).toBe("ok");
    }
    for (const ms of [challengeLifeMs - 30_000, -60_000])
      expect(kindOf({ challenge: text, signature }, ms)).toBe("wallet_challenge_expired");
    const unnamed = { challenge: null, signature };
    expect(kindOf(unnamed, challengeLifeMs)).toBe("wallet_signature_invalid");
  });

  test.each(["x", "Issued: 2026-06-01T12:00:00Z", "Issued: yesterday-at-noon-UTC"])(
    "is not %s",
    (challenge) => {
      expect(kindOf({ challenge, signature: sign(challenge) })).toBe("wallet_challenge_unknown");
    },
  );

  test("does not count with a wrong signature", () => {
    const signature = sign("other");
    for (const challenge of [text, null])
      expect(kindOf({ challenge, signature })).toBe("wallet_signature_invalid");
  });
});
