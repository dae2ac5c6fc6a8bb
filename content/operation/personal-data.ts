/** People put addresses and telephone numbers into free text: a query without them, for logs. */
export const withoutContacts = (text: string): string =>
  text
    .replaceAll(/[^\s@]{1,64}@[^\s@]{1,255}/g, "[address]")
    .replaceAll(/\+?\d(?:[\s().-]{0,2}\d){6,}/g, "[number]");
