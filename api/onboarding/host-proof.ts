import type { Config } from "#api/config.ts";
import type { Context } from "#api/context.ts";
import type { FailureTable } from "#api/http/problem.ts";
import { contactAddress, inUrl, isAbsent, openResolver } from "#api/http/resolve.ts";
import { fillDetail } from "#content/contract/base/fill.ts";
import details from "#content/editorial/problem-details.json";
import { bareHost } from "#content/onboarding/host-proof.ts";
import { onboardingKeys } from "#content/onboarding/keys.ts";
import {
  type SendMail,
  type HostProofWorld,
  type HostProofFailure,
  type HostLook,
  type Look,
  fileAt,
  type HostSeen,
  tokenRecord,
} from "#content/onboarding/prove-host.ts";
import { AnswerRefused, boundedText, fetchPlain } from "#content/runtime/plain-fetch.ts";
import { withTimeout } from "#content/runtime/timing.ts";

/** The dependencies of host proofs in a service. */
export const openHostProof = (
  context: Pick<Context, "store" | "clock" | "config" | "secrets">,
  sendMail: SendMail | null,
): HostProofWorld => {
  const { store, clock, config } = context;
  const { baseUrl } = config;
  return {
    store,
    clock,
    config,
    baseUrl,
    ...onboardingKeys(context),
    look: openHostLook(config),
    sendMail,
  };
};

const mailWaitMs = 5_000;

/** Sends mail through the operator's server; null when none is configured. Loads nodemailer with the first mail. */
export function openMail(
  mail: Config["mail"],
  onFailure: (error: unknown) => void,
): SendMail | null {
  if (mail === null) return null;
  const limits = {
    connectionTimeout: mailWaitMs,
    greetingTimeout: mailWaitMs,
    socketTimeout: mailWaitMs,
  };
  return async (message) => {
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({ url: mail.url, ...limits });
    try {
      const info = await withTimeout(
        transport.sendMail({ from: mail.from, ...message }),
        mailWaitMs,
      );
      return info !== null;
    } catch (error) {
      onFailure(error);
      return false;
    } finally {
      transport.close();
    }
  };
}

/** Refusals of host proofs, each with what to do instead. */
export const hostProofAnswers: FailureTable<HostProofFailure> = {
  ...details.host_proof,
  host_not_reached: (failure) => fillDetail(details.host_proof.host_not_reached, failure),
};

type LookOptions = { ca?: string; waitMs?: number };
type LookConfig = Pick<Config, "claimResolver" | "claimPorts" | "claimAddresses">;

const waitMsDefault = 5_000;
const bodyBytesMax = 65_536;
const redirectsMax = 3;

/**
 * Looks for the token in a file of the host and in its DNS, within 5 s. It contacts only public addresses of the host
 * itself, and follows no redirect elsewhere. While four hosts are being asked, a fifth look is unclear at once.
 */
export const openHostLook =
  (config: LookConfig, { ca, waitMs = waitMsDefault }: LookOptions = {}): HostLook =>
  async ({ website, host, token }) => {
    if (checking >= checksMax) return { ...busy, by: "file" };
    checking += 1;
    const resolver = openResolver(config.claimResolver);
    const signal = AbortSignal.timeout(waitMs);
    const late: Look = { kind: "unclear", said: `did not come within ${waitMs / 1_000} s` };
    const asking = { config, ca, resolver, signal, token };
    const [file, record] = await Promise.all([
      withTimeout(lookAtFile(asking, fileAt(website)), waitMs),
      withTimeout(lookAtRecord(asking, host), waitMs),
    ]).finally(() => {
      checking -= 1;
      resolver.cancel();
    });
    return judged({ by: "file", ...(file ?? late) }, { by: "dns", ...(record ?? late) });
  };

/** Limits concurrent looks, so that slow hosts take no more than their share of the service. */
const checksMax = 4;
let checking = 0;
const busy: Look = { kind: "unclear", said: `${checksMax} other hosts are being asked just now.` };

/** A found token wins. Otherwise the result is unclear if either look was, else absent. */
function judged(file: HostSeen, record: HostSeen): HostSeen {
  const proof = [file, record].find(({ kind }) => kind === "found");
  if (proof !== undefined) return proof;
  const kind = [file, record].some((look) => look.kind === "unclear") ? "unclear" : "absent";
  return { by: "file", kind, said: `The file ${file.said}. The DNS record ${record.said}.` };
}

type Asking = {
  config: LookConfig;
  ca: string | undefined;
  resolver: ReturnType<typeof openResolver>;
  signal: AbortSignal;
  token: string;
};

const present: Look = { kind: "found", said: "has the token" };
const absent = (sentence: string): Look => ({ kind: "absent", said: sentence });
const unclear = (sentence: string): Look => ({ kind: "unclear", said: sentence });

async function lookAtRecord({ resolver, token }: Asking, host: string): Promise<Look> {
  try {
    const texts = await resolver.texts(tokenRecord(host));
    return texts.some((text) => text.trim() === token) ? present : absent("holds another text");
  } catch (error) {
    return isAbsent(error)
      ? absent("does not exist")
      : unclear(`could not be asked for (${codeOf(error)})`);
  }
}

/** Follows redirects within the host, but never from https to http, where anyone on the way could answer. */
async function lookAtFile(asking: Asking, start: URL): Promise<Look> {
  let url = start;
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const next = await lookOnce(asking, url).catch((error: unknown) =>
      unclear(`could not be fetched (${codeOf(error)})`),
    );
    if (!(next instanceof URL)) return next;
    const isSameHost = bareHost(next.hostname) === bareHost(start.hostname);
    if (!isSameHost || !/^https?:$/.test(next.protocol)) return absent("redirects to another host");
    if (url.protocol === "https:" && next.protocol === "http:") return absent("redirects to http");
    url = next;
  }
  return absent(`redirects more than ${redirectsMax} times`);
}

/** Sends one request to the address that was checked, with the host's name. Returns a URL for a redirect. */
async function lookOnce(asking: Asking, url: URL): Promise<Look | URL> {
  const { config, ca, resolver, signal, token } = asking;
  const { protocol, hostname, pathname, search } = url;
  const [httpsPort, httpPort] = config.claimPorts;
  const port = protocol === "https:" ? httpsPort : httpPort;
  if (url.port !== "" && Number(url.port) !== port) return absent("redirects to another port");
  const address = await contactAddress(hostname, resolver.addresses, config.claimAddresses).catch(
    noneIfAbsent,
  );
  if (address === null) return absent("is at a host without a public address");
  const response = await fetchPlain(`${protocol}//${inUrl(address)}:${port}${pathname}${search}`, {
    redirect: "manual",
    signal,
    // A connection kept alive may belong to the host that had this address before.
    keepalive: false,
    headers: {
      host: hostname,
      accept: "text/plain",
      "user-agent": "Almoner-Claim-Check/1",
    },
    ...(protocol === "https:" && {
      tls: { serverName: hostname, ...(ca !== undefined && { ca }) },
    }),
  });
  if (response.status !== 200) return refusedAt(response, url);
  try {
    const text = await boundedText(response, bodyBytesMax);
    const isThere = text.split(/\r?\n/).some((line) => line.trim() === token);
    return isThere ? present : absent("does not have the token as a line");
  } catch (error) {
    if (error instanceof AnswerRefused) return absent(`cannot be read: ${error.message}`);
    throw error;
  }
}

const noneIfAbsent = (error: unknown): null => {
  if (isAbsent(error)) return null;
  throw error;
};

/** The meaning of a status other than 200: a redirect leads on; a failing server may still have the file. */
async function refusedAt({ status, headers, body }: Response, url: URL): Promise<Look | URL> {
  await body?.cancel();
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    return URL.parse(location, url) ?? absent("redirects nowhere");
  }
  return (status >= 500 || status === 429 ? unclear : absent)(`is answered ${status}`);
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "no answer";
