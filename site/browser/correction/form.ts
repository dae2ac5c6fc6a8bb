import { part } from "#site/browser/dom.ts";

// The link on a profile names it after the #.
const slug = /^#([a-z0-9-]{1,240})$/.exec(location.hash)?.[1];
if (slug !== undefined) (part("#field-slug") as HTMLInputElement).value = slug;
