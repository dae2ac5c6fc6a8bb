import { enclosed, markdownLine } from "#site/parts/markdown.ts";
import type { Entry, ListPageView } from "./list-view.ts";

type ListForModels = Pick<
  ListPageView,
  "name" | "page" | "intro" | "total" | "order" | "entries" | "next" | "json"
> & {
  /** Entries under headings, where they have some. */
  lists?: readonly { heading: string | null; entries: readonly Entry[] }[];
};

/** The page of a list for models; its links lead to markdown. `baseUrl` has no trailing slash. */
export function listMarkdown(view: ListForModels, baseUrl: string): string {
  const lineOf = ({ path, name, verified, warning, note, text }: Entry) => {
    const marks = [verified ? "claimed" : "", warning ?? ""];
    const what = [...marks, note, text].filter((part) => part !== "");
    return `- [${markdownLine(name)}](${baseUrl}${path}.md): ${what.map(markdownLine).join(" · ")}`;
  };
  const lists = (view.lists ?? [{ heading: null, ...view }]).flatMap(({ heading, entries }) => [
    heading === null ? "" : `## ${heading}`,
    entries.map(lineOf).join("\n"),
  ]);
  const next = view.next?.includes("?") === false ? `${view.next}.md` : view.next;
  return enclosed(
    [
      `# ${markdownLine(view.name)}${view.page > 1 ? `, page ${view.page}` : ""}`,
      markdownLine(view.intro ?? ""),
      view.total === null ? "" : `${view.total}. ${view.order}.`,
      ...(view.entries.length === 0 ? ["No nonprofits here."] : lists),
    ],
    [...(next === null ? [] : [`Next page: ${baseUrl}${next}`]), `JSON: ${baseUrl}${view.json}`],
  );
}
