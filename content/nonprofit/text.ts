/** A text without accents and letter case, with single spaces: for sorting and comparing names. */
export const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
