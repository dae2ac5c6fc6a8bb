import { Elysia } from "elysia";

/**
 * Answers as soon as requests are served; nothing is asked of the store, so that a busy one is not taken for dead. No
 * cache may answer in its place.
 */
export const healthRoutes = () =>
  new Elysia().get("/healthz", ({ set }) => {
    set.headers["cache-control"] = "no-store";
    return { status: "ok" };
  });
