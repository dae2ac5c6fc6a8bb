import { expect, test } from "bun:test";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { aDataFolder, aRunningService } from "#test/support/data-folder.ts";

/** Promise 20 says 10,000 lines: ALMONER_FULL_TESTS=1 has them all written, else as many as meet each kind. */
const requests = isFull ? 10_000 : 40;
const atOnce = 10;
const operatorToken = "zqtoken0123456789abcdef0123456789";

const marks = (at: number) => ({
  email: `zqmail${at}@zqhost.example`,
  address: `198.51.${(at >> 8) & 255}.${at & 255}`,
  v6: `2001:db8:aa:${(at & 0xffff).toString(16)}::17`,
  token: `zqsecret${at}abcdef`,
});

/** Requests that hold what must not be logged where a log might take it from: addresses, queries, bodies, headers. */
function aRequest(at: number): [string, RequestInit] {
  const { email, address, v6, token } = marks(at);
  const headers = {
    "x-forwarded-for": at % 2 === 0 ? address : v6,
    authorization: `Bearer ${token}`,
    "user-agent": `agent of ${email}`,
    referer: `https://almoner.example/?token=${token}`,
    "content-type": "application/json",
  };
  const contact = { contact_email: email, contact_name: "A", claim_slug: "nobody" };
  const post = (body: unknown) => ({ method: "POST", headers, body: JSON.stringify(body) });
  const search = `/api/search?q=${encodeURIComponent(`wells ${email} ${address} ${v6} ${at}`)}`;
  const kinds: [string, RequestInit][] = [
    [`/api/admin/health?token=${token}`, { headers }],
    ["/api/onboard", post(contact)],
    ["/api/enrich/nobody", post({ field: "contact_email", value: email, agent_id: email })],
    [`/nothing/${email}?key=${token}`, { headers }],
    ["/desk/sign-in", post({ token })],
  ];
  return at % 8 === 7 ? (kinds[(at >> 3) % kinds.length] ?? ["/", {}]) : [search, { headers }];
}

test("no e-mail address, network address or token is in the log of a service that logs all it can", async () => {
  const { dataDir, close } = await aDataFolder();
  const env = {
    ALMONER_TRUSTED_HOPS: "1",
    ALMONER_READS_PER_MINUTE: "0",
    ALMONER_ADMIN_TOKENS: `ops:${operatorToken}`,
    ALMONER_LOG_LEVEL: "debug",
  };
  const { url, child, stop } = await aRunningService(dataDir, env, "pipe");
  const logged = new Response(child.stderr as ReadableStream<Uint8Array>).text();
  await fetch(`${url}/api/admin/health`, { headers: { authorization: `Bearer ${operatorToken}` } });
  let next = 0;
  const sending = Array.from({ length: atOnce }, async () => {
    while (next < requests * 1.3) {
      const [path, init] = aRequest(next++);
      await (await fetch(url + path, init)).arrayBuffer();
    }
  });
  await Promise.all(sending);
  await stop();
  close();
  const lines = (await logged).trim().split("\n");
  const telling = lines.filter((line) =>
    /zqmail|zqsecret|zqtoken|zqhost|198\.51\.\d|2001:db8:aa/i.test(line),
  );
  measured(`${shown(lines.length)} lines logged, ${telling.length} with personal data`);
  expect(telling.slice(0, 3)).toEqual([]);
  expect(lines.length).toBeGreaterThanOrEqual(requests);
}, 300_000);
