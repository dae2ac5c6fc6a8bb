/** The secret of `Authorization: Bearer <secret>`, at most 500 characters; null without one. */
export const bearerOf = (request: Request): string | null =>
  /^Bearer +(\S{1,500})$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
