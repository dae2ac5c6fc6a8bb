import { lengthMax } from "#content/contract/enrichment.ts";
import type { FormPageOf } from "#content/contract/form-pages.ts";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { correctable, onboardingLengthMax } from "#content/contract/onboarding.ts";
import { aboutOf, faultsOf, findView, formLines } from "./form-view.ts";
import { valuesOf } from "./present-values.ts";

/** What tells a reader whether a profile is theirs. */
const telling: ReadonlySet<string> = new Set([
  "city",
  "country",
  "website",
  "registrations",
  "mission",
]);

const nowLengthMax = 60;

/** Claiming or registering an organisation: found first, then the form about it. */
export function onboardView(asked: FormPageOf<"/onboard">) {
  if (asked.step === "find") {
    const name = asked.q === null || /^[\d\s-]*$/.test(asked.q) ? {} : { q: asked.q };
    const register = `/onboard?${new URLSearchParams({ register: "1", ...name })}`;
    const find = findView(asked, (slug) => `/onboard?claim=${encodeURIComponent(slug)}`);
    return { step: "find", title: "Claim your profile, or add it", find, register } as const;
  }
  const { profile, sent, key } = asked;
  const known = profile === null ? registering : claiming(profile);
  const { required } = known;
  const lines = (names: readonly string[], now: Readonly<Record<string, string>> = {}) =>
    formLines("onboard", names, { sent, now, lengthMax: lengths, required, kinds: {} });
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
    faults: faultsOf(sent, [...about, ...wallet, ...contact]),
    hidden: [
      { name: "idempotency_key", value: key },
      { name: "wallet_challenge", value: sent?.values["wallet_challenge"] ?? "" },
      ...known.named,
    ],
  } as const;
}

const lengths = { ...lengthMax, ...onboardingLengthMax, usdc_wallet: 64, wallet_signature: 128 };
const always = ["name", "contact_email"];

const registering = {
  title: "Add your organisation",
  profile: null,
  isClaimed: false,
  known: [],
  names: ["name", "country", "city", "website", "mission", "registration_number"],
  now: {},
  required: [...always, "country"],
  named: [],
};

function claiming(detail: NonprofitDetail) {
  const values = valuesOf(detail);
  // A long text stands above the form already.
  const short = values.filter(({ text }) => text.length <= nowLengthMax);
  const isClaimed = detail.status === "claimed" || detail.verified === 1;
  const numbered = detail.registrations.length > 0 ? [] : ["registration_number"];
  return {
    title: `${isClaimed ? "Change" : "Claim"} ${detail.name}`,
    profile: aboutOf(detail),
    isClaimed,
    known: values.filter(({ field }) => telling.has(field)),
    names: ["website", "city", "country", "mission", ...numbered],
    now: Object.fromEntries(short.map(({ field, text }) => [field, text])),
    required: always,
    named: [
      { name: "claim_slug", value: detail.slug },
      // What is written differs from the profile because the profile is wrong.
      { name: "corrects", value: correctable.join(",") },
    ],
  };
}
