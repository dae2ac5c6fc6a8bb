/** The most proposals that wait in one place; a further one must agree with others or take the place of an old one. */
export const waitingInPlaceMax = 20;
/** The most of them from one network, so that no one fills a place alone. */
export const waitingOfNetworkMax = 5;

/** Whether the queue has no room for one more from this network. */
export const isQueueFull = (
  requests: readonly { network: string | null }[],
  network: string | null,
): boolean =>
  requests.length >= waitingInPlaceMax ||
  (network !== null &&
    requests.filter((request) => request.network === network).length >= waitingOfNetworkMax);

/** Bytes of a row besides its texts: indexes, times, its share of the page. Measured: 0.3 to 0.6 kB. */
export const rowBytes = 600;

/** Bytes of a text in the store. */
export const sizeOf = (text: string | null): number =>
  text === null ? 0 : Buffer.byteLength(text);

/** Bytes to store an answer under its Idempotency-Key; an index repeats the key. */
export const storedAnswerBytes = (
  idempotencyKey: string | null,
  sender: string,
  answers: number,
): number =>
  idempotencyKey === null
    ? 0
    : rowBytes + 2 * (sizeOf(sender) + sizeOf(idempotencyKey)) + 300 * answers;
