/** A response that cannot be accepted; its message completes "cannot be read: …". */
export class AnswerRefused extends Error {
  override name = "AnswerRefused";
}

/**
 * Fetches from a server that is not ours, without compression: nothing is unpacked before its bytes are counted, so a small
 * response cannot expand. Rejects as fetch does.
 */
export function fetchPlain(address: string | Request, init: RequestInit): Promise<Response> {
  const headers = new Headers(address instanceof Request ? address.headers : {});
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  headers.set("accept-encoding", "identity");
  return fetch(address, { ...init, headers, decompress: false });
}

/** Rejects with AnswerRefused if a response is compressed although it was not requested; its body is not read. */
export async function refuseCompressed(answer: Response): Promise<void> {
  const encoding = answer.headers.get("content-encoding") ?? "";
  if (/^(?:identity)?$/i.test(encoding)) return;
  // Cancel only here: a body that was touched and is read later may not report a broken connection.
  await answer.body?.cancel();
  const named = encoding.replaceAll(/[^\w,-]/g, "").slice(0, 20);
  throw new AnswerRefused(`it is compressed (${named}) without being asked to`);
}

/**
 * The body of a response of `fetchPlain`. Rejects with AnswerRefused if it has more than `bytesMax` bytes or is compressed;
 * the rest is not read.
 */
export async function boundedBytes(
  answer: Response,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  await refuseCompressed(answer);
  const { body, headers } = answer;
  const tooLarge = () => new AnswerRefused(`it has more than ${bytesMax} bytes`);
  if (Number(headers.get("content-length") ?? 0) > bytesMax) {
    await body?.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (size > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** `boundedBytes` as UTF-8 text. */
export const boundedText = async (answer: Response, bytesMax: number): Promise<string> =>
  new TextDecoder().decode(await boundedBytes(answer, bytesMax));
