import { lengthMax } from "#content/contract/enrichment.ts";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { correctable, onboardingLengthMax } from "#content/contract/onboarding.ts";
import type { Texts } from "#content/language/texts.ts";
import { aboutOf, faultsOf, findView, formLines, valuesOf } from "./form-view.ts";

/** What tells a reader whether a profile is theirs. */
const telling: ReadonlySet<string> = new Set([
  "city",
  "country",
  "website",
  "registrations",
  "mission",
]);

const nowLengthMax = 60;

const start = "/onboard";
const claimAddress = (slug: string) => `${start}?claim=${encodeURIComponent(slug)}`;

/** Claiming or registering an organisation: found first, then the form about it. */
export function onboardView(page: FormPageOf<"/onboard">, t: Texts) {
  if (page.step === "find") {
    const name = page.q === null || /^[\d\s-]*$/.test(page.q) ? {} : { q: page.q };
    const register = `${start}?${new URLSearchParams({ register: "1", ...name })}`;
    const find = findView(page, claimAddress, t);
    return {
      step: "find",
      path: start,
      title: t.text("onboard.heading"),
      find,
      register,
    } as const;
  }
  const { profile, sent, key } = page;
  const known = profile === null ? registering(t) : claiming(profile, t);
  const { required } = known;
  const lines = (names: readonly string[], now: Readonly<Record<string, string>> = {}) =>
    formLines("onboard", names, { t, sent, now, lengthMax: lengths, required });
  const about = lines(known.names, known.now);
  const wallet = lines(["usdc_wallet", "wallet_signature"]);
  const contact = lines(["contact_email", "contact_name"]);
  return {
    step: "fill",
    ...known,
    about,
    wallet,
    walletOpen: wallet.some(({ value, wrong }) => value !== "" || wrong !== null),
    contact,
    faults: faultsOf(sent, [...about, ...wallet, ...contact], t),
    hidden: [
      { name: "idempotency_key", value: key },
      { name: "wallet_challenge", value: sent?.values["wallet_challenge"] ?? "" },
      ...known.named,
    ],
  } as const;
}

const lengths = { ...lengthMax, ...onboardingLengthMax, usdc_wallet: 64, wallet_signature: 128 };
const further = ["donation_url", "tagline", "programs", "logo_url"];
const always = ["name", "contact_email"];

const registering = (t: Texts) => ({
  path: `${start}?register=1`,
  title: t.text("onboard.add"),
  profile: null,
  isClaimed: false,
  known: [],
  names: ["name", "country", "city", "website", "mission", ...further, "registration_number"],
  now: {},
  required: [...always, "country"],
  named: [],
});

function claiming(detail: NonprofitDetail, t: Texts) {
  const values = valuesOf(detail, t);
  // A long text stands above the form already.
  const short = values.filter(({ text }) => text.length <= nowLengthMax);
  const isClaimed = detail.status === "claimed" || detail.verified === 1;
  const numbered = detail.registrations.length > 0 ? [] : ["registration_number"];
  return {
    path: claimAddress(detail.slug),
    title: t.text(isClaimed ? "onboard.change" : "onboard.claim", { name: detail.name }),
    profile: aboutOf(detail, t),
    isClaimed,
    known: values.filter(({ field }) => telling.has(field)),
    names: ["website", "city", "country", "mission", ...further, ...numbered],
    now: Object.fromEntries(short.map(({ field, text }) => [field, text])),
    required: always,
    named: [
      { name: "claim_slug", value: detail.slug },
      // What is written differs from the profile because the profile is wrong.
      { name: "corrects", value: correctable.join(",") },
    ],
  };
}
