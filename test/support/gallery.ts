import { sourceFrom } from "#content/nonprofit/record.ts";
import { aRichNonprofit } from "./compiled-site.ts";
import { hostileMarkup } from "./hostile-markup.ts";
import { aNonprofit, anEin } from "./records.ts";

export const scripts =
  "Žluťoučký Ωμέγα Пример עברית العربية हिन्दी ไทย 中文 日本語 한국어 አማርኛ ქართული";
const emoji = "🌍👩🏽‍🚒 Help 🐘🏳️‍🌈";
export const attack = hostileMarkup.join(" ");
const long = "We help people who need help. ".repeat(167).slice(0, 5_000);
const numbers = Array.from({ length: 10 }, (_, at) => anEin(`53-019660${at}`));
/** A whole profile in each script, as it stands in its country. */
const names = {
  arabic: "جمعية الأمل الخيرية لتعليم الأطفال",
  chinese: "北京乡村儿童阅读促进基金会",
  devanagari: "ग्रामीण बालिका शिक्षा समिति",
  thai: "มูลนิธิเพื่อเด็กด้อยโอกาสในชนบทห่างไกล",
};
const named = (name: string) => ({ name, tagline: name, mission: name, city: name, region: name });

/** What a page, a list and a search have to bear: little, much, every script, emoji, no cause, hostile text. */
export const gallery = [
  aNonprofit({ slug: "name-only", name: "Bare", country_code: null, causes: [] }),
  aNonprofit({ slug: "long", mission: long }),
  aNonprofit({ slug: "ten", registrations: numbers }),
  aRichNonprofit({ slug: "scripts", ...named(scripts), registrations: [] }),
  aRichNonprofit({ slug: "emoji", ...named(emoji), registrations: [] }),
  ...Object.entries(names).map(([slug, name]) =>
    aRichNonprofit({ slug, ...named(name), registrations: [] }),
  ),
  aNonprofit({ slug: "no-cause", causes: [], city: "Reno" }),
  aRichNonprofit({
    slug: "hostile",
    ...named(attack),
    website: attack,
    registrations: [],
    provenance: {
      [attack]: sourceFrom("consensus", 0, {
        source: attack,
        source_url: attack,
        agents: [attack],
      }),
      city: sourceFrom("operator", 0),
    },
  }),
];
