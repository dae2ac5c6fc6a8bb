import { html } from "#content/language/html.ts";
import { table } from "./elements.ts";
import { type Page, places } from "./layout.ts";

/** Keys on the pages themselves, beside those of the places. */
const onPages = [
  ["o", "In a queue: open the first review"],
  ["e", "In a review: edit the value. On Profiles: type which one"],
  ["a", "In a review: approve. On a profile: save"],
  ["r", "In a review: write why it is rejected"],
  ["n", "The next review, or the next page of a list"],
] as const;

/** /desk/keys: how the desk is worked by keyboard, without a script. */
export const keysPage = async (): Promise<Page> => ({
  title: "Keys",
  place: "/desk/keys",
  main: html`<h1>Keys</h1>
    <p>
      Hold <strong>Alt</strong> and press the key. In Firefox hold <strong>Alt</strong> and
      <strong>Shift</strong>, on a Mac <strong>Ctrl</strong> and <strong>Option</strong>. The small
      letters beside links and buttons are these keys.
    </p>
    ${table({
      kind: "facts",
      columns: [],
      rows: [
        ...places.map(({ name, path, key }) => [
          html`<code>${key}</code>`,
          html`<a href="${path}">${name}</a>`,
        ]),
        ...onPages.map(([key, what]) => [html`<code>${key}</code>`, what]),
      ],
    })}
    <p>
      <strong>Tab</strong> goes from one link or field to the next, <strong>Space</strong> ticks a
      box, and the first press of <strong>Tab</strong> on each page offers to skip the navigation.
    </p>`,
});
