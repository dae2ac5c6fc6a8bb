import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openPost, openTargets } from "#api/webhooks/post.ts";
import { aReceiver } from "#test/support/receiver.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const never = new AbortController().signal;
const message = (url: string) => ({ url, id: "test-1", payload: "{}" });
const leadingTo = (...addresses: string[]) => openTargets(() => Promise.resolve(addresses), false);
const nobodyAsks = openTargets(() => Promise.reject(new Error("no name is looked up")), false);

describe("a receiver that was listed", () => {
  test.each([
    "https://partner.example.com/hook",
    "http://127.0.0.1:9000/hook",
    "http://[::1]:9000/",
    "http://10.0.0.5/hook",
    "http://localhost:9000/",
    "http://crm:9000/",
    "http://crm.internal/",
    "http://crm.default.svc.cluster.local/x?y=1",
  ])("as %s leads where it says", async (url) => {
    expect(await nobodyAsks(url)).toEqual({ url, host: null });
  });

  test.each([
    [["93.184.216.34"], "http://93.184.216.34:8080/hook?a=b"],
    [["10.0.0.5", "93.184.216.34"], "http://93.184.216.34:8080/hook?a=b"],
    [["2606:2800:220:1::1"], "http://[2606:2800:220:1::1]:8080/hook?a=b"],
  ])("by a public name is contacted at the public address of %j", async (addresses, url) => {
    const target = await leadingTo(...addresses)("http://partner.example.com:8080/hook?a=b");
    expect(target).toEqual({ url, host: "partner.example.com:8080" });
  });

  test.each([
    "127.0.0.1",
    "10.0.0.5",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "fd00:ec2::254",
    "64:ff9b::7f00:1",
  ])("by a public name that leads to %s is not contacted", async (address) => {
    const looked = leadingTo(address)("http://partner.example.com/");
    expect(looked).rejects.toThrow("not public");
  });

  test("behind a proxy is the proxy's to find", async () => {
    const url = "http://partner.example.com/";
    const proxied = openTargets(() => Promise.reject(new Error("no name is looked up")), true);
    expect(await proxied(url)).toEqual({ url, host: null });
  });
});

describe("a message", () => {
  test("goes to no receiver whose name was turned to this machine", async () => {
    const receiver = aReceiver(secret);
    const { port } = new URL(receiver.url());
    const post = openPost(secret, () => new Date(), { targetOf: leadingTo("127.0.0.1") });
    const posted = await post(message(`http://partner.example.com:${port}/hook`), never);
    expect(posted).toMatchObject({
      delivered: false,
      status: null,
      answer: expect.stringContaining("not public"),
    });
    expect(receiver.got).toEqual([]);
    await receiver.stop();
  });

  test("names the host that was listed at the address that was found", async () => {
    const receiver = aReceiver(secret);
    const found = { url: receiver.url(), host: "partner.example.com:8080" };
    const post = openPost(secret, () => new Date(), { targetOf: () => Promise.resolve(found) });
    expect(await post(message("http://partner.example.com:8080/hook"), never)).toMatchObject({
      delivered: true,
    });
    expect(receiver.got[0]?.headers["host"]).toBe("partner.example.com:8080");
    await receiver.stop();
  });

  test("does not wait for a name server that says nothing", async () => {
    const targetOf = openTargets(() => new Promise(() => {}), false);
    const post = openPost(secret, () => new Date(), { timeoutMs: 50, targetOf });
    expect(await post(message("http://partner.example.com/"), never)).toMatchObject({
      delivered: false,
      answer: "no answer within 0.05 s",
    });
  });
});
