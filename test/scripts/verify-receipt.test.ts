import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { caip2Of, networks } from "#content/giving/network.ts";
import { checkReceipt } from "#scripts/verify.ts";
import type { Unproven } from "#scripts/verify/source.ts";
import { correctionOf, receiptOf, signReceipt, signedAnswer } from "#content/giving/receipt.ts";
import type { Receipt } from "#content/contract/donation.ts";
import { keySetOf, openSigner, type Signer } from "#content/feed/signing-keys.ts";
import { aRenderer } from "#test/support/compiled-site.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";
import { runApart, runProgram, runScript } from "#test/support/processes.ts";
import { aSigningKey } from "#test/support/publisher.ts";
import { aReceipt } from "#test/support/receipts.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();
let signer: Signer;
let other: Signer;
let local: TestChain;
/** A receipt of a transfer that is on the local chain. */
let paid: Receipt;
beforeAll(async () => {
  [signer, other] = [await openSigner(aSigningKey()), await openSigner(aSigningKey())];
  local = await aChain();
  const chain = await local.open();
  const wallet = local.wallet();
  const { signature } = local.land(local.donor().pay({ to: wallet, usdc: "2.5", memo: "intent" }));
  const landed = await chain.landed(signature);
  const credit = landed.ok ? landed.value?.credits[0] : undefined;
  if (!landed.ok || landed.value === null || credit === undefined) throw new Error("not landed");
  const at = (landed.value.block_time ?? 0) * 1_000;
  const evidence = { network: chain.caip2, recipient: credit.owner, memo: "intent" };
  const donation = { ...landed.value, ...credit, ...evidence, commitment: "confirmed" } as const;
  paid = receiptOf(
    { ...donation, id: "paid", settled_at: at, recorded_at: at },
    { slug: "wells", name: "Wells", registrations: [], identifiers: [] },
    "https://almoner.example",
  );
});
afterAll(async () => {
  await local.stop();
});

const textOf = async (receipt: Receipt, by = signer) =>
  JSON.stringify(signedAnswer(receipt, await signReceipt(receipt, by)));

/** A file with this text. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** `input`: what the file of the receipt holds. */
async function verify(words: string[], input = "") {
  const path = file("given.json", input);
  const given = words.map((word) => (word === "-" ? path : word));
  const { code, out, err } = await runScript("verify", given);
  return { code, said: out, complained: err };
}
const key = () => ["--key", signer.publicKey.x];

/** The check in this process, without the command around it: what it answers, or why it does not hold. */
const checked = async (receipt: Receipt, rpc: string) => {
  const path = file("checked.json", await textOf(receipt));
  const pins = { key: signer.publicKey.x, directory: null };
  return checkReceipt(path, pins, rpc).catch((error: Unproven) => {
    const { kind, exitCode, details } = error;
    return { kind, exitCode, ...details };
  });
};

describe("verify, given a receipt, offline", () => {
  test("says of a valid one what it is", async () => {
    const path = file("valid.json", await textOf(aReceipt()));
    const { code, said } = await verify([path, ...key()]);
    expect(code).toBe(0);
    expect(said).toMatch(/^VALID.*2\.5 USDC to Lantern School \(lantern-school\).*53-0196605/s);
    expect(said).not.toContain("NO REAL MONEY");
  });

  test("takes the key as a file, as a set and by its x, and the receipt from standard input", async () => {
    const text = await textOf(aReceipt());
    // The set that a directory publishes after it took another key into use.
    const newer = await openSigner(aSigningKey());
    const set = file("keys.json", keySetOf(newer, [signer.publicKey]));
    const one = file("key.json", JSON.stringify(signer.publicKey));
    const path = file("of-standard-input.json", text);
    for (const [named, ended] of [
      [set, runApart("verify", ["-", "--key", set, "--json"], {}, text)],
      ...[one, signer.publicKey.x].map(
        (key_) => [key_, runScript("verify", [path, "--key", key_, "--json"])] as const,
      ),
    ] as const) {
      const { code, out } = await ended;
      const verdict = { valid: true, signed_by: signer.publicKey.kid, on_chain: false };
      expect([named, code, JSON.parse(out)]).toEqual([named, 0, expect.objectContaining(verdict)]);
    }
  });

  test("tells an altered one from one that another key signed", async () => {
    const altered = (await textOf(aReceipt())).replace('"amount_usdc":2.5', '"amount_usdc":2500');
    const first = await verify(["-", ...key()], altered);
    expect([first.code, first.said]).toEqual([1, ""]);
    expect(first.complained).toContain("NOT VALID: the receipt was altered");
    const otherKey = ["-", "--key", other.publicKey.x, "--json"];
    const second = await verify(otherKey, await textOf(aReceipt()));
    expect(second.code).toBe(1);
    expect(JSON.parse(second.said)).toMatchObject({ valid: false, kind: "wrong_key" });
  });

  test("says of one that the directory took back that it is void", async () => {
    const receipt = aReceipt();
    const { tx_signature } = receipt.evidence;
    const voiding = { voided_at: Date.UTC(2026, 5, 1), void_reason: "vanished" } as const;
    const correction = correctionOf({ id: receipt.id, tx_signature, ...voiding }, receipt.issuer);
    if (correction === null) throw new Error("no correction");
    const signature = await signReceipt(receipt, signer);
    for (const [by, verdict] of [
      [signer, "VOIDED"],
      [other, "altered"], // Nobody else can take it back.
    ] as const) {
      const corrected = { correction, signature: await signReceipt(correction, by) };
      const answer = JSON.stringify(signedAnswer(receipt, signature, corrected));
      const { code, complained } = await verify(["-", ...key()], answer);
      expect([code, complained]).toEqual([1, expect.stringContaining(verdict)]);
    }
  });

  test("does not let a name write to the terminal", async () => {
    const receipt = aReceipt();
    receipt.nonprofit.name = "Wells\u001b[2J\u202E";
    const { said } = await verify(["-", ...key()], await textOf(receipt));
    for (const control of ["\u001b", "\u202E"]) expect(said).not.toContain(control);
  });

  test("says what cannot be checked, and refuses a key that is none", async () => {
    const none = file("none.json", "{}");
    for (const [words, input, complaint] of [
      [["/no/such/file.json", "--key", "x".repeat(43)], "{}", "cannot be read"],
      [["-", "--key", "x".repeat(43)], "{}", "not a receipt of a donation"],
      [["-", "--kee", "x"], "{}", "Unknown option --kee"],
      [["-", "--key", none], await textOf(aReceipt()), "holds no Ed25519"],
      // No file is read for an issuer that is no address.
      [["-"], await textOf(aReceipt({ issuer: folder })), "holds no Ed25519"],
    ] as const) {
      const { code, complained } = await verify([...words], input);
      expect([code, complained]).toEqual([2, expect.stringContaining(complaint)]);
    }
  });
});

describe("verify, given a receipt, with a network", () => {
  test("fetches receipt and key from the directory that issued it", async () => {
    let text = "";
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) =>
        request.url.endsWith("/almoner-keys.json")
          ? new Response(keySetOf(signer))
          : new Response(text, { status: text === "" ? 404 : 200 }),
    });
    const issuer = `http://127.0.0.1:${server.port}`;
    const url = `${issuer}/api/donations/lantern-school/1`;
    expect((await verify([url])).code).toBe(2);
    text = await textOf(aReceipt({ issuer }));
    const ended = await verify([url, "--issuer", issuer, "--json"]);
    await server.stop(true);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.said).key_from).toBe(`${issuer}/.well-known/almoner-keys.json`);
    expect((await verify([url])).code).toBe(3);
  });

  test("the program of the published guide says the same, without this repository", async () => {
    const valid = JSON.parse(await textOf(aReceipt()));
    const forged = JSON.parse(await textOf(aReceipt(), other));
    const altered = { ...valid, receipt: { ...valid.receipt, amount_usdc: 9 } };
    const unknown = { ...forged, signature: forged.signature.replace(/^[^.]+/, aHeader("nope")) };
    const answers: Record<string, object> = {
      "/unknown-key": unknown,
      "/no-receipt": {},
      "/valid": valid,
      "/void": { ...valid, correction: {} },
      "/altered": altered,
      "/forged": forged,
      "/.well-known/almoner-keys.json": JSON.parse(keySetOf(signer)),
    };
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const answer = answers[new URL(url).pathname];
        return Response.json(answer ?? { code: "donation_not_found" }, {
          status: answer === undefined ? 404 : 200,
        });
      },
    });
    const baseUrl = server.url.origin;
    const guide = await (await aRenderer()).render("/verify-receipt.md", { baseUrl });
    const [, program = ""] = /```js\n([\s\S]*?)```/.exec(new TextDecoder().decode(guide)) ?? [];
    const path = file("verify-receipt.mjs", program);
    const said = async (name: string) => {
      const { code, out, err } = await runProgram(["node", path, `${baseUrl}/${name}`]);
      return [code, `${out}${err}`.split(" {")[0]?.trim()];
    };
    expect(await said("valid")).toEqual([0, "VALID"]);
    expect(await said("void")).toEqual([0, "VOID"]);
    expect(await said("altered")).toEqual([1, "NOT VALID: the key did not sign this"]);
    const { kid } = other.publicKey;
    expect(await said("forged")).toEqual([1, `NOT VALID: the directory has no key ${kid}`]);
    expect(await said("unknown-key")).toEqual([1, "NOT VALID: the directory has no key nope"]);
    expect(await said("nope")).toEqual([1, `NOT VALID: ${baseUrl}/nope answers 404`]);
    expect(await said("no-receipt")).toEqual([1, expect.stringMatching(/^NOT VALID: /)]);
  });

  test("looks the transfer up on the chain", async () => {
    // Older receipts of the local chain have its own id.
    const older = withEvidence(paid, { network: caip2Of(networks.local) });
    expect(paid.evidence.network).not.toBe(older.evidence.network);
    expect(await checked(older, local.url)).toMatchObject({ on_chain: true });
    const ended = await verify(["-", ...key(), "--rpc", local.url], await textOf(paid));
    expect([ended.complained, ended.code]).toEqual(["", 0]);
    expect(ended.said).toContain("the transfer matches");
    expect(ended.said).toContain("NO REAL MONEY");
  });

  const other58 = () => paid.evidence.destination;
  test.each<[string, () => Partial<Receipt>, () => Partial<Receipt["evidence"]>]>([
    ["amount_atomic", () => ({ amount_atomic: "25000000" }), () => ({})],
    ["amount_usdc", () => ({ amount_usdc: 25 }), () => ({})],
    ["settled_at", () => ({ settled_at: "2020-01-01T00:00:00Z" }), () => ({})],
    ["recipient", () => ({}), () => ({ recipient: other58() })],
    ["slot", () => ({}), () => ({ slot: paid.evidence.slot + 1 })],
    ["donor", () => ({}), () => ({ donor: other58() })],
    ["source", () => ({}), () => ({ source: other58() })],
    ["chain", () => ({}), () => ({ network: caip2Of(networks.solana) })],
    ["memo", () => ({}), () => ({ memo: "another" })],
    ["mint", () => ({}), () => ({ mint: other58() })],
  ])("finds out a directory that signs another %s", async (what, fields, evidence) => {
    const lie = withEvidence({ ...paid, ...fields() }, evidence());
    const disagreement = { kind: "chain_disagrees", exitCode: 1, what };
    expect(await checked(lie, local.url)).toMatchObject(disagreement);
  });

  test("says what no node knows, and that a node serves another chain or none", async () => {
    const { tx_signature } = aReceipt().evidence;
    const unknown = withEvidence(paid, { tx_signature });
    expect(await checked(unknown, local.url)).toMatchObject({ kind: "not_on_chain" });
    expect(await checked(aReceipt(), local.url)).toMatchObject({ kind: "wrong_chain" });
    expect(await checked(paid, "http://127.0.0.1:1")).toMatchObject({ exitCode: 3 });
  });
});

const aHeader = (kid: string) =>
  Buffer.from(JSON.stringify({ alg: "EdDSA", kid })).toString("base64url");

const withEvidence = (receipt: Receipt, evidence: Partial<Receipt["evidence"]>): Receipt => ({
  ...receipt,
  evidence: { ...receipt.evidence, ...evidence },
});
