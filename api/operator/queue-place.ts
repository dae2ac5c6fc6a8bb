/** A place in a queue that is ordered by an instant and an id: "1780315200000.a1b2". Any other text is the beginning. */
export function placeIn(cursor: string | null): { at: number; id: string } {
  const [, at = "-1", id = ""] = /^(\d{1,15})\.([\da-f]{1,64})$/.exec(cursor ?? "") ?? [];
  return { at: Number(at), id };
}

export const placeOf = (at: number, id: string): string => `${at}.${id}`;
