import { type Address, addresses } from "#content/contract/addresses.ts";
import { translationCodes } from "./languages.ts";

/** An address in English or, with `translated`, in other languages. */
export type AddressForm = Omit<Address, "translated"> & { translated: boolean };

/** All addresses, each in English and then, if it exists, in other languages. */
export const addressForms: readonly AddressForm[] = Object.values<Address>(addresses).flatMap(
  ({ translated, ...address }) => [
    { ...address, translated: false },
    ...(translated === undefined ? [] : [{ ...address, from: translated, translated: true }]),
  ],
);

/** The paths of an address as the source of a regular expression without anchors; `codes` matches a language. */
export function patternOf(
  { path, from, translated }: AddressForm,
  codes = translationCodes,
): string {
  const pattern = path
    .replaceAll(/[.+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("*", ".*")
    .replaceAll("{number}", String.raw`\d+`)
    // The file of such an answer has its own address, which ends with its type.
    .replaceAll(/\{\w+\}/g, ["live", "queried"].includes(from) ? "[^/.]+" : "[^/]+");
  return translated ? `/(?:${codes})${path === "/" ? "" : pattern}` : pattern;
}

/** A pattern for the paths of the selected addresses. */
export const addressesWhere = (isMeant: (form: AddressForm) => boolean): RegExp =>
  new RegExp(
    `^(?:${addressForms
      .filter(isMeant)
      .map((form) => patternOf(form))
      .join("|")})$`,
  );
