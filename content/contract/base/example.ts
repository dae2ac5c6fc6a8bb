import { z } from "zod";
import { proseFields, structuredFields } from "#content/contract/enrichment.ts";
import type { Json } from "#content/contract/operations/operation.ts";

// A made-up directory of one nonprofit: what each operation would be asked and answer about it. The tests hold every example
// against its shape.
const slug = "hope-kitchen";
const origin = "https://almoner.example";
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const memo = "AAAADAAAJiWgahLUwAAAKlRm3EkL9mXq";
const reference = "9mXGxjSwYwZ2QhTzLNJoHyr5PNyCrUjdQr5cYoWp5Jmi";
const donation_id = "mC4l0bUq8dWm3s1Yc7RkZg";
const tx_signature =
  "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
const challenge = [
  `${new URL(origin).host} asks the owner of this Solana wallet to prove control of it.`,
  "Signing moves no money and costs nothing.",
  `Wallet: ${wallet}`,
  "Issued: 2026-05-04T10:00:00Z",
  "Valid until: 2026-05-04T10:15:00Z",
  "Code: kQ0b5r9dWm3s1Yc7RkZgaA",
].join("\n");

/** Values by the name of their field, or by the id of the shape that holds it and its name. */
const values: Readonly<Record<string, Json>> = {
  // Of a nonprofit.
  id: "12",
  slug,
  nonprofit_slug: slug,
  name: "Hope Kitchen",
  nonprofit: "Hope Kitchen",
  tagline: "A warm meal for whoever comes",
  mission: "We cook and share a warm meal every day.",
  description: "Two cooks and twenty volunteers, six days a week.",
  country: "Kenya",
  city: "Kisumu",
  location: "Kisumu",
  region: "Nyanza",
  website: "https://hope-kitchen.example",
  donation_url: "https://hope-kitchen.example/give",
  donate_url: "https://hope-kitchen.example/give",
  logo_url: null,
  beneficiaries_per_year: 1_200,
  founded_year: 1998,
  annual_budget_usd: 48_000,
  usdc_wallet: wallet,
  verified: 1,
  "NonprofitDetail.status": "claimed",
  "NonprofitDetail.signature": tx_signature,
  "Registration.type": "NGO number",
  identifiers: [],
  registration_number: "218/051",
  causes: ["food-security"],
  cause: "food-security",
  "Cause.id": "food-security",
  "Cause.name": "Food Security",
  "Cause.description": "Enough to eat, and the means to grow it.",
  "NonprofitDetail.causes": [{ id: "food-security", name: "Food Security" }],
  "Program.name": "Lunch",
  "ImpactMetric.name": "Meals",
  "ImpactMetric.value": "31000",
  unit: "meals",
  profile_url: `${origin}/nonprofits/${slug}`,
  api_url: `${origin}/api/nonprofits/${slug}`,
  // Of lists.
  q: "warm meal",
  limit: 20,
  offset: 0,
  next: null,
  prev: null,
  // Of recommendations.
  "RecommendQuery.q": null,
  "RecommendQuery.country": null,
  "RecommendQuery.limit": 3,
  "RecommendationDraft.message":
    "Thank you: the draft is stored and waits. promotion_note says what comes next.",
  "RecommendationDraft.phase": 3,
  "RecommendationDraft.promotion_note":
    "Waits for a second agent that names the same donor intents with a source (1 of 2), or for the operator.",
  "PickChange.message": "The profile is recommended now.",
  "Recommendation.donate_url": `${origin}/donate/${slug}`,
  recommended_for: ["donors interested in food security"],
  why_recommended: "Cooks every day and publishes its accounts.",
  trust_signals: ["The organisation has claimed its profile."],
  best_next_action: "Read the profile at api_url, then show the donor donate_url.",
  ranking_signals: ["editorial_curation_for_starter_set"],
  ranking_signals_applied: ["editorial_curation_for_starter_set"],
  signal: "editorial_curation_for_starter_set",
  score: 50,
  points: 50,
  editorial_disclosure: "The operator picks these profiles by hand.",
  fallback: null,
  no_recommendations_reason: null,
  sensitive_claims: [],
  in_file: [],
  added_by: "operator",
  // Of enrichment.
  field: "city",
  fields: ["city"],
  needs_fields: ["city"],
  value: "Kisumu",
  "ThinProfile.current_data": { mission: "We cook and share a warm meal every day.", city: null },
  pending_value: "Kisumu",
  source: "consensus",
  origin: "consensus",
  source_url: "https://register.example/hope-kitchen",
  agents: ["Research Bot", "Field Notes"],
  agent_id: "research-bot-7",
  agent_name: "Research Bot",
  submitted_by: "Research Bot",
  structured: [...structuredFields],
  prose_pending: [...proseFields],
  applied: false,
  consensus: false,
  release: null,
  action: "Research city yourself. If you find the same value, POST it to enrich_url.",
  promotion_note:
    "Awaiting consensus: 1 agent has submitted this city. It goes live when a second, different agent submits the same value.",
  prior_rejections: [],
  note: "Credit goes to Research Bot on the leaderboard once a value is live.",
  hint: "Send values in this form.",
  "EnrichmentAnswer.message":
    "Thank you: 1 received, 0 applied, 1 pending. Each promotion_note says what comes next.",
  "HelpWanted.message": "These profiles lack data.",
  "Leaderboard.message": "Agents by the values of theirs that went live.",
  "Exemplars.message": "Submissions that went live. Use them as templates for the form of a value.",
  reason: "The source says otherwise.",
  flags: [],
  enrich_url: `${origin}/api/enrich/${slug}`,
  // Of donations.
  donation_id,
  "DonationRecord.id": donation_id,
  "RecentDonation.id": donation_id,
  "DonationStatus.status": "received",
  "DonationStatus.retry_after_s": 60,
  "PendingDonation.retry_after_s": 2,
  "PaymentOptionV1.description": `Donation of 2.5 USDC to ${slug}`,
  "DonationEvidence.source": "HzMoc78z1VNNf9nwD4Czt6CDYEb9LVD8KQVGP46FEmyJ",
  "DonationEvidence.network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "PendingDonation.message":
    "The chain does not show this transaction yet. Send the same request again; do not pay again.",
  "Receipt.id": donation_id,
  tx_signature,
  tx_hash: tx_signature,
  amount: 2.5,
  amount_usdc: 2.5,
  total_donated_usdc: 2.5,
  amount_atomic: "2500000",
  maxAmountRequired: "2500000",
  expires_in: 300,
  maxTimeoutSeconds: 300,
  recipient: wallet,
  payTo: wallet,
  mint,
  asset: mint,
  memo,
  reference,
  feePayer: "9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde",
  donor: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2",
  destination: "7UX2i7SucgLMQcfZ75s3VXmZZY4YRUyJN9X1RgfMoDUi",
  cluster: "mainnet",
  resource: `${origin}/api/donate/${slug}?amount=2.5`,
  solana_pay: `solana:${wallet}?amount=2.5&spl-token=${mint}&reference=${reference}&memo=${memo}&label=Hope%20Kitchen`,
  status_url: `${origin}/api/donate/${slug}/status?memo=${memo}`,
  receipt_url: `${origin}/api/donations/${slug}/${donation_id}`,
  explorer_url: `https://explorer.solana.com/tx/${tx_signature}`,
  page_url: `${origin}/receipt?nonprofit=${slug}&id=${donation_id}`,
  keys_url: `${origin}/.well-known/almoner-keys.json`,
  issuer: origin,
  signature:
    "eyJhbGciOiJFZERTQSIsImtpZCI6IjRLajJ2In0..hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6d",
  code: "payment_required",
  error:
    "No money has moved. Pay with an x402 client, or transfer USDC to the recipient with this memo and POST {tx_signature}.",
  // Of onboarding.
  submission_id: "4f1c9a0b7d2e6f8a3b5c",
  "OnboardingAnswer.status_url": `${origin}/onboard/status#mK3v0uQ1yZ7w9xS5tR2pN8aB4cD6eF1gH3jL0kM7nPs`,
  // Of corrections.
  correction_id: "4f1c9a0b7d2e6f8a3b5c",
  "CorrectionAnswer.field": "city",
  "CorrectionAnswer.status_url": `${origin}/corrections/status#mK3v0uQ1yZ7w9xS5tR2pN8aB4cD6eF1gH3jL0kM7nPs`,
  "CorrectionAnswer.message":
    "Thank you: it waits for an operator. Nothing of it is public before; status_url shows what becomes of it.",
  "CorrectionStatus.message": "An operator has not decided yet. Nothing of it is public.",
  "CorrectionStatus.reason": null,
  "CorrectionStatus.reviewed_at": null,
  history_url: `${origin}/api/history/${slug}`,
  expires_at: "2026-05-04T10:15:00Z",
  "WalletChallenge.message":
    "Sign exactly this text with the wallet's key (Ed25519) and send usdc_wallet, wallet_challenge and wallet_signature (base58) to POST /api/onboard. It counts once.",
  "OnboardingAnswer.message":
    "Your claim waits for review. Nothing is public before a reviewer approves it; status_url shows its status.",
  "OnboardingStatus.message": "A reviewer has not decided yet. Nothing of it is public.",
  "OnboardingStatus.reason": null,
  "OnboardingStatus.reviewed_at": null,
  "OnboardingStatus.wallet": {
    state: "in_review",
    address: "4Nd1…DB4T",
    proven: true,
    takes_effect_at: null,
    reason: null,
  },
  other_wallet_at: null,
  wallet,
  challenge,
  taken_back: ["usdc_wallet", "contact_email", "website"],
  put_back: ["website"],
  // Of the change feed.
  epoch: "0f8b6c",
  path: "/snapshot/nonprofits.ndjson.gz",
  part_path: "/snapshot/nonprofits/{n}.ndjson.gz",
  manifest: "/snapshot/manifest.json",
  // Of operators' work.
  "ReviewItem.id": "prose-12",
  "ReviewItem.kind": "prose",
  "ReviewItem.checks": [{ name: "form", outcome: "passed", message: "It is a city." }],
  "ReviewDecision.id": "prose-12",
  "ReviewDecision.message": "The text is live.",
  required: false,
  cursor: "prose:12",
  summary: "Approve to make the value live, reject to refuse it.",
  detail: { field: "city", value: "Kisumu" },
  before: null,
  after: "Kisumu",
  current: "Kisumu",
  choices: [],
  sources: ["https://hope-kitchen.example/about"],
  operator: "ada",
  "AuditEntry.action": "review.rejected",
  subject: "prose-11",
  "WebhookDelivery.url": "https://receiver.example/almoner",
  urls: ["https://receiver.example/almoner"],
  event_id: "changes-41001-41003",
  answered_status: 503,
  answer: "try later",
  finished_at: null,
  held: false,
  stopped_hold: false,
  requests: { read: 12 },
  warnings: [],
  why: null,
  backup: null,
  backup_problem: null,
  days: ["2026-05-04"],
};

/**
 * An example of a shape: its own, when it has one; else made of the values above, of what descriptions name ("for example
 * EIN", "ISO 8601"), of the first value of a closed list, 1 and true.
 */
export function exampleOf(shape: z.core.$ZodType): Json {
  return exampleAt(shape, { owner: "", name: "", said: "" });
}

type Place = { owner: string; name: string; said: string };

function exampleAt(shape: z.core.$ZodType, at: Place): Json {
  const { id = at.owner, description = at.said, examples } = z.globalRegistry.get(shape) ?? {};
  const [own] = Array.isArray(examples) ? (examples as Json[]) : [];
  if (own !== undefined) return own;
  const ofOwner = `${at.owner}.${at.name}`;
  const known = values[ofOwner in values ? ofOwner : at.name];
  if (known !== undefined && z.safeParse(shape, known).success) return known;
  const place = { ...at, owner: id, said: description };
  return madeOf(shape as z.core.$ZodTypes, place);
}

function madeOf({ _zod: { def } }: z.core.$ZodTypes, at: Place): Json {
  if (def.type === "object") {
    const members = Object.entries(def.shape).map(([name, shape]): [string, Json] => [
      name,
      exampleAt(shape, { owner: at.owner, name, said: "" }),
    ]);
    return Object.fromEntries(members);
  }
  if (def.type === "array") return [exampleAt(def.element, at)];
  if (def.type === "record") return { city: exampleAt(def.valueType, { ...at, name: "city" }) };
  if (def.type === "union" && def.options[0] !== undefined) return exampleAt(def.options[0], at);
  if ("innerType" in def) return exampleAt(def.innerType, at);
  if (def.type === "enum") return Object.values(def.entries)[0] ?? null;
  if (def.type === "literal") return def.values[0] as Json;
  if (def.type === "string") return textOf(at);
  return def.type === "boolean" ? true : 1;
}

function textOf({ name, said }: Place): string {
  if (said.includes("YYYY-MM-DD")) return "2026-05-04 10:00:00";
  if (said.includes("ISO 8601") || name.endsWith("_at")) return "2026-05-04T10:00:00Z";
  return /for example (\S+\w)/i.exec(said)?.[1] ?? name;
}
