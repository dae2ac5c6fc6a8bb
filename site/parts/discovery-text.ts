/** What the directory is, in one sentence for models. */
export const purpose =
  "An open directory of nonprofits: search it, read profiles, get recommendations with reasons, and complete missing data.";

/** A guide with its {{places}} filled. Throws for a place that no one fills: a slip of the pen. */
export const filled = (guide: string, values: Readonly<Record<string, string>>): string =>
  guide.replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
    const value = values[place];
    if (value === undefined) throw new Error(`a guide has the place ${place}, and nothing for it`);
    return value;
  });
