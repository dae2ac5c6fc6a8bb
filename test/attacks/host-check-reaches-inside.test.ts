import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { isAbsent, openResolver } from "#api/http/resolve.ts";
import { openHostLook } from "#api/onboarding/host-proof.ts";
import { hostCertificate } from "#test/support/host-certificate.ts";
import { aNameServer, type Named } from "#test/support/name-server.ts";

const website = "http://www.kitchen.example/about";
const host = "kitchen.example";
const token = "almoner-claim=abc";
const here = "127.0.0.1";
const inside = "127.0.0.2";
const path = "/.well-known/almoner-claim.txt";

type Answer = (request: Request) => Response | Promise<Response>;
const withToken: Answer = () => new Response(`a line\n${token}\n`);

/** A server on this machine: `hosts` are the Host headers of what it heard. */
function aServer(hostname: string, port: number, tls = false) {
  const server = {
    hosts: [] as string[],
    answer: withToken,
    port: 0,
    stop: () => running.stop(true),
  };
  const running = Bun.serve({
    hostname,
    port,
    ...(tls ? { tls: hostCertificate } : {}),
    fetch: (request) => {
      server.hosts.push(request.headers.get("host") ?? "");
      return new URL(request.url).pathname === path
        ? server.answer(request)
        : new Response("nothing", { status: 404 });
    },
  });
  server.port = running.port ?? 0;
  return server;
}

const names = await aNameServer();
/** Stands for the organisation's host. */
const plain = aServer(here, 0);
/** Stands for a machine of the operator's own network: same port, an address that is not public. */
const secret = aServer(inside, plain.port);
const secure = aServer(here, 0, true);
afterAll(() => {
  names.close();
  for (const one of [plain, secret, secure]) void one.stop();
});
beforeEach(() => {
  for (const one of [plain, secret, secure]) one.hosts.length = 0;
  names.asked.length = 0;
  for (const name of Object.keys(names.names)) delete names.names[name];
  plain.answer = withToken;
  secure.answer = withToken;
});

const closedPort = 1;
const configOf = (https: number, allowed = [here]) => ({
  claimResolver: names.address,
  claimPorts: [https, plain.port] as [number, number],
  claimAddresses: allowed,
});
/** Looks where names lead as given; only `here` counts as public. */
function look(leading: Record<string, Named>, { waitMs = 2_000, allowed = [here] } = {}) {
  Object.assign(names.names, leading);
  return openHostLook(configOf(closedPort, allowed), { waitMs })({ website, host, token });
}
const leadingHere = { "www.kitchen.example": { addresses: [[here]] } };

describe("a look at a host", () => {
  test("finds the token in the file, under the name of the host at the address that was found", async () => {
    expect(await look(leadingHere)).toMatchObject({ kind: "found", by: "file" });
    expect(plain.hosts).toEqual(["www.kitchen.example"]);
  });

  test("finds the token in DNS", async () => {
    const record = { "_almoner-claim.kitchen.example": { texts: ["other", token] } };
    expect(await look(record)).toMatchObject({ kind: "found", by: "dns" });
  });

  test("asks a website of https by https, and checks that the certificate is the host's", async () => {
    const options = { ca: hostCertificate.cert };
    const asked = { website: "https://kitchen.example", host, token };
    Object.assign(names.names, { "kitchen.example": { addresses: [[here]] } });
    const config = configOf(secure.port);
    expect(await openHostLook(config, options)(asked)).toMatchObject({ kind: "found" });
    expect(secure.hosts).toEqual([host]);
    // Without trust in it, and for www.kitchen.example, which it is not of, the certificate proves nothing.
    expect(await openHostLook(config)(asked)).toMatchObject({ kind: "unclear" });
    const ofAnother = { ...asked, website: "https://www.kitchen.example" };
    Object.assign(names.names, leadingHere);
    expect(await openHostLook(config, options)(ofAnother)).toMatchObject({ kind: "unclear" });
    expect(secure.hosts).toEqual([host]);
    // Neither by a certificate that fails nor by a closed port is it led to plain http, where anyone on the way can answer.
    expect(await openHostLook(configOf(closedPort), options)(asked)).toMatchObject({
      kind: "unclear",
    });
    secure.answer = () => Response.redirect(`http://${host}${path}`);
    expect(await openHostLook(config, options)(asked)).toMatchObject({ kind: "absent" });
    expect(plain.hosts).toEqual([]);
  });

  test.each([
    [404, "absent"],
    [403, "absent"],
    [500, "unclear"],
    [503, "unclear"],
    [429, "unclear"],
  ])("is told by %i that the token is %s", async (status, kind) => {
    plain.answer = () => new Response(token, { status });
    expect((await look(leadingHere)).kind).toBe(kind as "absent");
  });

  test.each([
    ["a host that does not exist", {}, "absent"],
    ["a name server that fails", { "www.kitchen.example": { fails: true as const } }, "unclear"],
    [
      "a record that could not be asked for",
      { ...leadingHere, "_almoner-claim.kitchen.example": { fails: true as const } },
      "unclear",
    ],
  ])("tells %s from a refusal", async (_, leading, kind) => {
    plain.answer = () => new Response("", { status: 404 });
    expect((await look(leading)).kind).toBe(kind as "absent");
  });

  test("takes the token only as a line of its own", async () => {
    plain.answer = () => new Response(`x${token}\n${token}x\n<p>${token}</p>`);
    expect((await look(leadingHere)).kind).toBe("absent");
  });
});

describe("a host under an attacker's control", () => {
  test.each(["127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.1.1", "100.64.0.1"])(
    "that leads to %s is not contacted",
    async (address) => {
      const leading = { "www.kitchen.example": { addresses: [[address]] } };
      expect((await look(leading, { allowed: [] })).kind).toBe("absent");
      expect(plain.hosts).toEqual([]);
    },
  );

  test("that turns inside between two look-ups reaches nothing there", async () => {
    // The first look-up finds a good address, which redirects to the same host; the second turns to the inside.
    plain.answer = () => Response.redirect(`http://www.kitchen.example${path}`);
    const turning = { "www.kitchen.example": { addresses: [[here], [inside]] } };
    expect((await look(turning)).kind).toBe("absent");
    expect([plain.hosts.length, secret.hosts.length]).toEqual([1, 0]);
    // What was judged is what is contacted: one look-up for one connection.
    expect(names.asked.filter((one) => one.startsWith("1 www"))).toHaveLength(2);
  });

  test.each([
    () => `http://${inside}:${plain.port}${path}`,
    () => `http://${here}:${plain.port}${path}`,
    () => `http://other.example${path}`,
    () => `http://www.kitchen.example.other.example${path}`,
    () => `http://www.kitchen.example@${inside}${path}`,
    () => `//other.example${path}`,
    () => "http://www.kitchen.example:22/",
    () => "file:///etc/passwd",
    () => "http://[::1]/",
    () => "http://",
  ])("that redirects elsewhere is not followed", async (location) => {
    plain.answer = () => new Response(null, { status: 302, headers: { location: location() } });
    const leading = { ...leadingHere, "other.example": { addresses: [[inside]] } };
    expect((await look(leading)).kind).toBe("absent");
    expect([plain.hosts.length, secret.hosts.length]).toEqual([1, 0]);
  });

  test("that redirects to itself for ever is left after three times, with or without its www.", async () => {
    const bare = { "kitchen.example": { addresses: [[here]] } };
    plain.answer = ({ headers }) => {
      const other = headers.get("host") === host ? `www.${host}` : host;
      return Response.redirect(`http://${other}${path}`);
    };
    expect((await look({ ...leadingHere, ...bare })).kind).toBe("absent");
    expect(plain.hosts).toHaveLength(4);
  });

  test("that sends without end, or compressed, is read no further than 64 KiB", async () => {
    let sent = 0;
    plain.answer = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += 16_384;
            controller.enqueue(new TextEncoder().encode("x".repeat(16_384)));
          },
        }),
      );
    expect((await look(leadingHere)).kind).toBe("absent");
    expect(sent).toBeLessThan(16_777_216);
    const bomb = Bun.gzipSync(new Uint8Array(4_000_000));
    plain.answer = () => new Response(bomb, { headers: { "content-encoding": "gzip" } });
    expect((await look(leadingHere)).kind).toBe("absent");
    plain.answer = () => new Response(`${"x\n".repeat(40_000)}${token}`);
    expect((await look(leadingHere)).kind).toBe("absent");
  });

  test.each([
    ["says nothing", () => new Promise<Response>(() => {})],
    [
      "never ends its body",
      () => new Response(new ReadableStream({ start: (one) => one.enqueue(new Uint8Array(1)) })),
    ],
  ])("that %s keeps no one waiting", async (_, answer) => {
    plain.answer = answer;
    const startedAt = performance.now();
    expect((await look(leadingHere, { waitMs: 200 })).kind).toBe("unclear");
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});

test("a host is absent only where both families of addresses say so", async () => {
  const resolver = openResolver(names.address);
  names.names["half.example"] = { addresses: [[]], fails: 28 };
  const failed = await resolver.addresses("half.example").catch((error: unknown) => error);
  expect([failed instanceof Error, isAbsent(failed)]).toEqual([true, false]);
  const unknown = await resolver.addresses("nowhere.example").catch((error: unknown) => error);
  expect(isAbsent(unknown)).toBe(true);
});
