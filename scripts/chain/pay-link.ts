/** What a Solana Pay transfer request asks for. Source: Solana Pay, Transfer Request. */
export type PayLink = {
  to: string;
  amount: string | undefined;
  memo: string | undefined;
  references: string[];
};

/** Reads one; null for any other text. */
export function readPayLink(text: string): PayLink | null {
  if (!text.startsWith("solana:") || !URL.canParse(text)) return null;
  const { pathname: to, searchParams } = new URL(text);
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(to)) return null;
  return {
    to,
    amount: searchParams.get("amount") ?? undefined,
    memo: searchParams.get("memo") ?? undefined,
    references: searchParams.getAll("reference"),
  };
}
