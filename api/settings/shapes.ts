import { Cron } from "croner";
import { z } from "zod";
import { WayToGive } from "#content/contract/nonprofit.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { donationMax, microUsdcFrom } from "#content/contract/base/money.ts";

/** Any text, or none. */
export const anyText = z.string().optional();

/** A text of this form; `form` says what to send. */
export const matching = (pattern: RegExp, form: string) =>
  z.string().regex(pattern, `send ${form}`).optional();

/** Where a person is reached. */
export const contact = matching(
  /^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]+\S*)$/,
  "a URL like mailto:desk@almoner.example",
);

/** A whole number in decimal digits, bounds included. */
export const whole = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `send a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `send a whole number from ${min} to ${max}`)
    .default(fallback);

/** An amount of USDC, in millionths. */
export const usdc = (fallback: string) =>
  z
    .string()
    .transform((text, context) => {
      const amount = microUsdcFrom(text);
      if (amount !== null && amount <= donationMax) return amount;
      const message = "send USDC as a plain decimal number, like 0.25";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .prefault(fallback);

/** One of these words. */
export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `send one of ${values.join(", ")}` });

export const choice = <const Value extends string>(
  values: readonly [Value, ...Value[]],
  fallback: NoInfer<Value>,
) => oneOf(values).default(fallback);

export const onOrOff = (fallback: "on" | "off") => choice(["on", "off"], fallback);

/** Five or six fields, in UTC, that name at least one instant to come; or off. */
export const schedule = (fallback: string) =>
  z
    .string()
    .refine(
      (text) => {
        if (text === "off") return true;
        try {
          return new Cron(text, { timezone: "UTC" }).nextRun() !== null;
        } catch {
          return false;
        }
      },
      { error: "send a cron expression like `0 3 * * *`, or off" },
    )
    .default(fallback);

/** Scheme, host and port of a URL. */
export const origin = z
  .url({ protocol: /^https?$/, error: "send an origin like https://almoner.example" })
  .refine((text) => URL.canParse(text) && new URL(text).pathname === "/" && !/[?#]/.test(text), {
    error: "send only scheme and host, without a path",
  })
  .transform((text) => new URL(text).origin);

/** One to twenty http(s) URLs, comma-separated. */
export const urls = z
  .string()
  .transform((text) => text.split(",").map((one) => one.trim()))
  .pipe(
    z
      .array(z.url({ protocol: /^https?$/, error: "send http(s) URLs, comma-separated" }))
      .min(1)
      .max(20),
  );

/** Templates of links to services, as a JSON array; each is an https address with {number} in its path or query. */
export const givingLinks = z
  .string()
  .transform((text) => objectIn(`{"links": ${text}}`)?.["links"])
  .pipe(
    z
      .array(
        z.strictObject({
          ...WayToGive.omit({ kind: true }).shape,
          scheme: z.string().regex(/^[A-Z]{2}-[A-Z0-9]+$/, "send a scheme like US-EIN"),
          label: z.string().trim().min(1).max(80),
          url: z
            .string()
            .regex(
              /^https:\/\/[a-z0-9.-]+(?::\d+)?[/?][\w./?=&%~+-]*\{number\}[\w./?=&%~+-]*$/,
              "send an https URL with {number} once, like https://giving.example/us/{number}",
            ),
        }),
        { error: "send a JSON array" },
      )
      .max(20),
  )
  .optional();

const tokenBitsMin = 128;
const distinctMin = 8;
/** Kinds of characters in a token, and how many there are of each. */
const alphabets: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[-_]/, 2],
  [/[^\w-]/, 30],
];

/** The most that a token of this length and these kinds of characters can hold; 0 for one that repeats a few characters. */
function bitsOf(token: string): number {
  if (new Set(token).size < distinctMin) return 0;
  const used = alphabets.filter(([kind]) => kind.test(token));
  const size = used.reduce((sum, [, count]) => sum + count, 0);
  return token.length * Math.log2(/^[0-9a-f]+$/i.test(token) ? Math.min(16, size) : size);
}

const random = (token: string): boolean => bitsOf(token) >= tokenBitsMin;
const notRandom = (made: string) =>
  `a token needs ${tokenBitsMin} random bits: make ${made} with \`openssl rand -hex 32\``;

/** A bearer token of at least 128 random bits. */
export const bearerToken = z.string().refine(random, { error: notRandom("one") });

/** `name:token` pairs; the tokens are random, and no two are the same. */
export const operators = z
  .string()
  .transform((text) => text.split(",").map((pair) => pair.trim()))
  .pipe(
    z
      .array(
        z
          .string()
          .regex(
            /^[\w.-]{1,64}:[^\s:,]+$/,
            "send name:token, comma-separated; a token has no space, colon or comma",
          )
          .refine((pair) => random(pair.slice(pair.indexOf(":") + 1)), {
            error: notRandom("each"),
          }),
      )
      .max(100),
  )
  .transform((pairs) =>
    pairs.map((pair) => ({
      name: pair.slice(0, pair.indexOf(":")),
      token: pair.slice(pair.indexOf(":") + 1),
    })),
  )
  // The log could not tell who decided.
  .refine((all) => new Set(all.map(({ token }) => token)).size === all.length, {
    error: "two operators have the same token: give each one of its own",
  });
