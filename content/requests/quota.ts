/** So many proposals wait in one place; a further one must agree with others, or wait its turn. */
export const waitingInPlaceMax = 20;
/** So many of them from one network: no one fills a place alone. */
export const waitingOfNetworkMax = 5;

/** Whether one more from this network finds no room among those that wait. */
export const isQueueFull = (
  waiting: readonly { network: string | null }[],
  network: string | null,
): boolean =>
  waiting.length >= waitingInPlaceMax ||
  (network !== null &&
    waiting.filter((one) => one.network === network).length >= waitingOfNetworkMax);
