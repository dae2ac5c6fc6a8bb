/** Pages that stand alone, one of each kind. */
const alone = [
  "/",
  "/search?q=food",
  "/causes",
  "/countries",
  "/browse",
  "/statistics",
  "/methodology",
  "/recommendations",
  "/agents",
  "/about",
  "/privacy",
  "/data",
  "/developers",
  "/match",
  "/compare",
  "/compare?orgs=nobody",
  "/onboard",
  "/onboard?q=food",
  "/onboard?register=1",
  "/onboard/status",
  "/corrections",
  "/widget",
  "/receipt",
  "/404",
  "/es",
  "/fr/about",
  "/es/onboard?register=1",
  "/fr/onboard/status",
  "/es/corrections?q=food",
  "/fr/match",
  "/es/widget",
  "/fr/receipt",
  "/fr/methodology",
];

/**
 * A page of each kind of the directory at `url`: of nonprofits, the first that takes gifts and the first of which little
 * is known. Throws when no directory answers there.
 */
export async function pagesOfEachKind(url: string): Promise<string[]> {
  const [giving, thin] = await Promise.all(
    ["accepts=usdc", "claimed=false&has_website=false"].map(async (query) => {
      const answer = await fetch(new URL(`/api/nonprofits?limit=1&${query}`, url));
      const { nonprofits } = (await answer.json()) as { nonprofits: { slug: string }[] };
      return nonprofits.map(({ slug }) => slug);
    }),
  );
  return [
    ...alone,
    ...(giving ?? []).flatMap((slug) => [
      `/nonprofits/${slug}`,
      `/donate/${slug}`,
      `/history/${slug}`,
    ]),
    ...(thin ?? []).flatMap((slug) => [
      `/nonprofits/${slug}`,
      `/fr/nonprofits/${slug}`,
      `/onboard?claim=${slug}`,
      `/corrections?profile=${slug}`,
      `/corrections?profile=${slug}&field=city`,
    ]),
    "/causes/education",
    "/countries/KE",
    // A list that is empty.
    "/causes/animals?country=KE",
  ];
}
