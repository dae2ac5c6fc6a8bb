import { forFile } from "./at-file-top.ts";
import { type CheerioAPI, load } from "cheerio";
import type { Context } from "#api/context.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { addSlug, submissionOf } from "./enriching.ts";
import { aClient, aService, type TestService } from "./service.ts";

/** A page of the desk as a browser without scripts got it. */
export type DeskPage = {
  status: number;
  path: string;
  headers: Headers;
  body: string;
  $: CheerioAPI;
};

/** A browser without scripts: keeps cookies, follows redirects, sends forms as they stand. */
export function aVisitor(service: Pick<TestService, "app">, headers: Record<string, string> = {}) {
  const cookies = new Map<string, string>();
  const request = async (path: string, init: RequestInit = {}): Promise<DeskPage> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await service.app.handle(
      new Request(`http://localhost${path}`, {
        ...init,
        headers: {
          ...headers,
          ...(cookie === "" ? {} : { cookie }),
          ...(init.headers as Record<string, string>),
        },
      }),
    );
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (response.status === 303 && location !== null) return request(location);
    const body = await response.text();
    return { status: response.status, path, headers: response.headers, body, $: load(body) };
  };
  const post = (path: string, fields: Record<string, string>, extra: Record<string, string> = {}) =>
    request(path, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        origin: "https://almoner.example",
        ...extra,
      },
      body: new URLSearchParams(fields).toString(),
    });
  return {
    cookies,
    get: (path: string, extra: Record<string, string> = {}) => request(path, { headers: extra }),
    post,
    /** Fills the form that holds this button and presses it; fields that are not given keep what they show. */
    send: (page: DeskPage, button: string, fields: Record<string, string> = {}) => {
      const form = page
        .$("form")
        .filter((_, one) => page.$(one).find("button").text().startsWith(button))
        .first();
      if (form.length !== 1) throw new Error(`no form with a button ${button} on ${page.path}`);
      const shown: Record<string, string> = {};
      form.find("input, textarea, select").each((_, element) => {
        const one = page.$(element);
        const name = one.attr("name");
        if (name === undefined) return;
        const isChoice = ["radio", "checkbox"].includes(one.attr("type") ?? "");
        if (isChoice && one.attr("checked") === undefined) return;
        shown[name] = String(one.val() ?? "");
      });
      return post(form.attr("action") ?? "", { ...shown, ...fields });
    },
    async signIn(token: string): Promise<DeskPage> {
      const page = await request("/desk");
      return this.send(page, "Sign in", { operator_token: token });
    },
  };
}

export type Visitor = ReturnType<typeof aVisitor>;

/** Text as a browser shows it. */
export const shown = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
/** What a page says before all else. */
export const alerts = (page: DeskPage): string =>
  shown(page.$("[role=alert], [role=status]").text());
/** The texts of what a selector finds. */
export const textsOf = ({ $ }: DeskPage, selector: string): string[] =>
  $(selector)
    .toArray()
    .map((one) => $(one).text());

/** A service with the operators ada and grace, and what tests of their work ask of it. */
export async function anOperatedService(
  options: { env?: Record<string, string>; context?: Partial<Context> } = {},
) {
  const tokens = { ada: "a-token-of-ada-0123456789", grace: "a-token-of-grace-0123456789" };
  const pairs = Object.entries(tokens).map((pair) => pair.join(":"));
  const env = { ALMONER_ADMIN_TOKENS: pairs.join(), ALMONER_TRUSTED_HOPS: "1", ...options.env };
  const service = await aService({ ...options, env });
  const bearer = { authorization: `Bearer ${tokens.ada}` };
  return {
    ...service,
    bearer,
    from: aClient,
    signedIn: async (name: keyof typeof tokens = "ada"): Promise<Visitor> => {
      const visitor = aVisitor(service);
      await visitor.signIn(tokens[name]);
      return visitor;
    },
    aSlug: (parts?: Partial<NonprofitRecord>) => addSlug(service, parts),
    /** What became of a value that an agent sent. */
    submit: async (slug: string, agent_id: string, field: string, value: string) => {
      const body = { field, value, agent_id, source_url: "https://a.example/about" };
      return submissionOf(await service.post(`/api/enrich/${slug}`, body, aClient()));
    },
    /** What ada reads over HTTP. */
    ask: (path: string) => service.json(`/api/admin/${path}`, { ...bearer, ...aClient() }),
    /** What ada sends over HTTP. */
    tell: (path: string, body: object = {}) =>
      service.post(`/api/admin/${path}`, body, { ...bearer, ...aClient() }),
    /** Lets no submission wait any more. */
    emptyQueues: () =>
      service.store.write((tx) =>
        tx.raw.execute("UPDATE submissions SET status = 'rejected' WHERE status = 'pending'"),
      ),
  };
}

export const theOperatedService = forFile(anOperatedService);
