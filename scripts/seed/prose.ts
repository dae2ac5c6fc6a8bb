import sentences from "./sentences.json";
import type { Random } from "./random.ts";

/**
 * What may stand in a sentence's {braces}; a capital, {Act}, begins a sentence. A function gives something new each
 * time. Null or absent: the sentence is not used.
 */
export type Slots = Readonly<Record<string, string | null | (() => string)>>;

type Template = { readonly texts: readonly string[]; readonly slots: readonly string[] };

const compiled = new Map<string, Template>();

/** Texts and slots of a template by turns. Templates are few and used a million times. */
function templateOf(source: string): Template {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const parts = source.split(/\{(\w+)\}/);
  const template = {
    texts: parts.filter((_, at) => at % 2 === 0),
    slots: parts.filter((_, at) => at % 2 === 1),
  };
  compiled.set(source, template);
  return template;
}

/** The text with its slots filled, or null when one of them is absent. Values may hold slots of their own, one deep. */
export function fill(source: string, values: Slots): string | null {
  const { texts, slots } = templateOf(source);
  let filled = texts[0] ?? "";
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] ?? "";
    const key = slot.charAt(0).toLowerCase() + slot.slice(1);
    const given = values[key];
    if (given === undefined || given === null) return null;
    const value = typeof given === "string" ? given : given();
    const inner = value.includes("{") ? fill(value, values) : value;
    if (inner === null) return null;
    filled += (slot === key ? inner : capital(inner)) + (texts[at + 1] ?? "");
  }
  return filled;
}

/** The items by turns, over and over. */
export function byTurns(items: readonly string[]): () => string {
  let turn = 0;
  return () => items[turn++ % items.length] ?? "";
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `count` different sentences of a kind, fewer when too few can be filled. */
export function sentencesOf(
  random: Random,
  kind: keyof typeof sentences,
  values: Slots,
  count: number,
): string[] {
  const filled: string[] = [];
  // Two to spare: a sentence may need a fact that this organisation lacks.
  for (const source of random.some(sentences[kind], count + 2)) {
    const text = fill(source, values);
    if (text !== null) filled.push(text);
    if (filled.length === count) break;
  }
  return filled;
}

export const oneSentence = (
  random: Random,
  kind: keyof typeof sentences,
  values: Slots,
): string | null => sentencesOf(random, kind, values, 1)[0] ?? null;
