import jsQR from "jsqr";
import type { Browser } from "playwright-core";

/** What a scanner reads in a picture of a page; null when there is no code. The browser unpacks the PNG. */
export async function readQr(browser: Browser, png: Buffer): Promise<string | null> {
  const page = await browser.newPage();
  const { pixels, width, height } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const drawing = canvas.getContext("2d");
    drawing?.drawImage(picture, 0, 0);
    const colours = drawing?.getImageData(0, 0, picture.width, picture.height).data ?? [];
    // A list of numbers would take seconds to come over.
    const text = btoa(Array.from(colours, (byte) => String.fromCodePoint(byte)).join(""));
    return { pixels: text, width: picture.width, height: picture.height };
  }, png.toString("base64"));
  await page.close();
  // A package of CommonJS: its function is the default of its default.
  const read = (jsQR as unknown as { default?: typeof jsQR }).default ?? jsQR;
  return read(Uint8ClampedArray.from(Buffer.from(pixels, "base64")), width, height)?.data ?? null;
}
