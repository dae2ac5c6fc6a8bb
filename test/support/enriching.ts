import { EnrichmentAnswer } from "#content/contract/enrichment-answers.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { aNonprofit } from "./records.ts";
import type { TestService } from "./service.ts";

/** The header by which a proxy names its client. */
export const from = (address: string) => ({ "x-forwarded-for": address });

/** Adds a profile; answers its slug. */
export async function addSlug(
  service: TestService,
  parts: Partial<NonprofitRecord> = {},
): Promise<string> {
  const [record] = await service.add(aNonprofit(parts));
  return record?.slug ?? "";
}

/** Adds this many profiles; answers their slugs. */
export const addSlugs = async (service: TestService, count: number): Promise<string[]> =>
  (await service.add(...Array.from({ length: count }, () => aNonprofit()))).map(({ slug }) => slug);

let requests = 0;

/** Submits one value, from another address of one network each time: no limit of an address stands in for an answer. */
export const sendValue = (
  service: TestService,
  slug: string,
  [agent_id, field, value]: readonly [agent: string, field: string, value: string],
  headers: Record<string, string> = from(`10.6.0.${requests++ & 255}`),
): Promise<Response> => service.post(`/api/enrich/${slug}`, { field, value, agent_id }, headers);

/** The only submission of an answer, with the answer's message. */
export async function submissionOf(answer: Response) {
  const { submissions, message } = EnrichmentAnswer.parse(await answer.json());
  const [submission] = submissions;
  if (submission === undefined) throw new Error("no submission came back");
  return { ...submission, message };
}
