import { expect, test } from "bun:test";
import type { Context } from "#api/context.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { Comparison } from "#content/contract/comparison.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const draw: Pick<NonNullable<Context["draw"]>, "compare"> = {
  compare: async ({ slugs, records, not_found }, { language }) =>
    Response.json({ asked: slugs, slugs: records.map(({ slug }) => slug), not_found, language }),
};
const service = await theService({
  records: [
    ...["oak", "elm", "ash", "fir", "yew"].map((slug) =>
      aNonprofit({ slug, name: `${slug} trust` }),
    ),
    aNonprofit({ slug: "old", status: "withdrawn", merged_into: "older" }),
    aNonprofit({ slug: "older", status: "withdrawn", merged_into: "oak" }),
    aNonprofit({ slug: "ring", status: "withdrawn", merged_into: "ring" }),
  ],
  context: { draw: draw as never },
});

const compared = async (orgs: string) => {
  const answer = Comparison.parse(await service.json(`/api/compare?orgs=${orgs}`));
  return { slugs: answer.nonprofits.map(({ slug }) => slug), not_found: answer.not_found };
};

test("profiles stand side by side in the order asked for, as each is served alone", async () => {
  expect(await compared("elm,oak")).toEqual({ slugs: ["elm", "oak"], not_found: [] });
  const { nonprofits } = await service.json("/api/compare?orgs=oak");
  const alone = NonprofitDetail.parse(await service.json("/api/nonprofits/oak"));
  expect(nonprofits).toEqual([alone]);
});

test("what is named twice, or was merged, is there once", async () => {
  expect((await compared("oak,elm,oak")).slugs).toEqual(["oak", "elm"]);
  expect((await compared("old,oak,older")).slugs).toEqual(["oak"]);
  expect((await compared("ring")).slugs).toEqual(["ring"]);
});

test("what no profile is called comes with the nearest names, and stops no other", async () => {
  const { slugs, not_found } = await compared("oak,elm-trust,zzz");
  expect(slugs).toEqual(["oak"]);
  expect(not_found[0]).toMatchObject({ slug: "elm-trust" });
  expect(not_found[0]?.nearest[0]).toEqual({ slug: "elm", name: "elm trust" });
  expect(not_found[1]).toEqual({ slug: "zzz", nearest: [] });
});

test.each(["", "?orgs=", "?orgs=,", "?orgs=oak,elm,ash,fir,yew"])(
  "GET /api/compare%s is refused, with the limit",
  async (query) => {
    const detail = "orgs names one to 4 organisations: slugs with commas between them.";
    expect(await service.json(`/api/compare${query}`)).toMatchObject({ status: 400, detail });
  },
);

test("a page shows the first four of more, in the language of its address, and is there for none", async () => {
  const page = await service.json("/es/compare?orgs=oak,elm,ash,fir,yew");
  expect(page).toMatchObject({ slugs: ["oak", "elm", "ash", "fir"], language: "es" });
  expect(page.asked).toHaveLength(5);
  expect(await service.json("/compare?orgs=")).toMatchObject({ slugs: [], asked: [] });
});
