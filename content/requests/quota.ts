/** So many proposals wait in one place; a further one must agree with others, or wait its turn. */
export const waitingInPlaceMax = 20;
/** So many of them from one network: no one fills a place alone. */
export const waitingOfNetworkMax = 5;

/** Whether one more from this network finds no room among those that wait. */
export const isQueueFull = (
  requests: readonly { network: string | null }[],
  network: string | null,
): boolean =>
  requests.length >= waitingInPlaceMax ||
  (network !== null &&
    requests.filter((request) => request.network === network).length >= waitingOfNetworkMax);

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
