/** What a row takes beside its texts: its indexes, times and the page it shares. Measured: 0.3 to 0.6 kB. */
export const rowBytes = 600;

/** Bytes of a text in the store. */
export const sizeOf = (text: string | null): number =>
  text === null ? 0 : Buffer.byteLength(text);

/** What it takes to keep the answer to a request for its Idempotency-Key; the key is in an index as well. */
export const keptAnswerBytes = (
  idempotencyKey: string | null,
  sender: string,
  answers: number,
): number =>
  idempotencyKey === null
    ? 0
    : rowBytes + 2 * (sizeOf(sender) + sizeOf(idempotencyKey)) + 300 * answers;
