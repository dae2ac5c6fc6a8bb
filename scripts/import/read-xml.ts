import { SaxesParser } from "saxes";

/** What is wrong with a document, in words. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

/** A tree of elements by local name; `key` names the text of an element. */
class Elements extends Map<string, Elements> {
  key: string | undefined;
}

/** A tree of the elements at these paths ("/Return/Header"), each with the key of its text. */
export function elementsAt(paths: Iterable<readonly [path: string, key: string]>): Elements {
  const root = new Elements();
  for (const [path, key] of paths) {
    const names = path.split("/").slice(1);
    const last = names.reduce(
      (at, name) => at.getOrInsertComputed(name, () => new Elements()),
      root,
    );
    last.key = key;
  }
  return root;
}

/** Maximum nesting, and maximum length of text without a tag; no return comes near them. */
const depthMax = 200;
const silentMax = 2 ** 20;
/** Characters to parse before checking again whether more are needed. */
const pieceLength = 4_096;
/** Longer texts are cut: no field takes more. */
const textMax = 50_000;

/**
 * Reads the texts of XML elements by key; of several with one key the first non-empty text counts. A key ending in #
 * begins a group, and the * in a key becomes the group's number. After `isEnough`, asked after each element with a key,
 * the rest must only end with the root. Throws Unreadable if it is malformed, incomplete, not UTF-8 or has a DTD.
 */
export async function readElements(
  bytes: AsyncIterable<Uint8Array>,
  elements: Elements,
  isEnough: (texts: ReadonlyMap<string, string>) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const parser = new SaxesParser();
  let text = "";
  let root = "";
  let tail = "";
  const path: (Elements | undefined)[] = [elements];
  let silent = 0;
  let group = 0;
  let isDone = false;
  const refuse = (problem: string): never => {
    throw new Unreadable(`${problem} (line ${parser.line})`);
  };
  parser.on("error", ({ message }) => refuse(message.replace(/^\d+:\d+: /, "")));
  parser.on("doctype", () => refuse("it has a DTD, and no return needs one"));
  parser.on("xmldecl", ({ encoding = "UTF-8" }) => {
    if (!/^(?:utf-8|us-ascii)$/i.test(encoding)) refuse(`it is in ${encoding}; give it in UTF-8`);
  });
  parser.on("opentagstart", ({ name }) => {
    root ||= name;
    const element = path.at(-1)?.get(name.slice(name.indexOf(":") + 1));
    if (path.push(element) > depthMax) refuse("too many elements inside one another");
    [silent, text] = [0, ""];
    if (element?.key?.endsWith("#") === true) group += 1;
  });
  const addText = (more: string) => {
    if (text.length < textMax) text += more;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    silent = 0;
    const key = path.pop()?.key;
    if (key === undefined) return;
    const groupKey = key.replace("*", String(group));
    texts.set(groupKey, texts.get(groupKey) || text.trim());
    text = "";
    isDone ||= isEnough(texts);
  });
  for await (const part of decoded(bytes)) {
    tail = `${tail}${part}`.slice(-1_000);
    for (let at = 0; at < part.length && !isDone; at += pieceLength) {
      const piece = part.slice(at, at + pieceLength);
      silent += piece.length;
      parser.write(piece);
      if (silent > silentMax) refuse("no element begins or ends within 1 MB");
    }
  }
  if (!isDone) parser.close();
  else if (!tail.trimEnd().endsWith(`</${root}>`))
    throw new Unreadable(`it ends before </${root}>`);
  return texts;
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new Unreadable("it is not in UTF-8") : error;
  }
}
