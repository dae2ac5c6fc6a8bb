import { Elysia } from "elysia";

/** Answers as soon as requests are served; nothing is asked of the store, so that a busy one is not taken for dead. */
export const healthRoutes = () => new Elysia().get("/healthz", () => ({ status: "ok" }));
