/** Does work on each item, at most `limit` at a time. When work throws, no further item is begun. */
export async function eachAtMost<Item>(
  limit: number,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = iteratedOnce(items);
  const next = async () => {
    for await (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, next));
}

/** Each item is given to one of those who iterate over it. */
async function* iteratedOnce<Item>(items: Iterable<Item> | AsyncIterable<Item>) {
  yield* items;
}
