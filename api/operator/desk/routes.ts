import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { chartsPage, healthPage } from "./health-page.ts";
import { logPage, undoForms, undoPage } from "./log-page.ts";
import { pickForms, pickPage, picksPage } from "./picks-page.ts";
import { profileForms, profilePage, profilesPage } from "./profiles-page.ts";
import { overviewPage, queueForms, queuePage, queuesPage } from "./queues.ts";
import { nextPage, reviewForms, reviewPage } from "./review-page.ts";
import { closeSession, signIn, signInPage } from "./session.ts";
import {
  formWorks,
  notHere,
  onForm,
  onSignIn,
  onVisit,
  type FormVisit,
  type Visit,
  type Work,
} from "./visit.ts";
import { fileAnswer, keysPage, redirect, style } from "./layout.ts";

const pages: Readonly<Record<string, Work<Visit>>> = {
  "/desk": overviewPage,
  "/desk/queues": queuesPage,
  "/desk/queues/:name": queuePage,
  "/desk/reviews/:id": reviewPage,
  "/desk/reviews/:id/next": nextPage,
  "/desk/picks": picksPage,
  "/desk/picks/:slug": pickPage,
  "/desk/profiles": profilesPage,
  "/desk/profiles/:slug": (visit) => profilePage(visit),
  "/desk/undo": undoPage,
  "/desk/log": logPage,
  "/desk/health": healthPage,
  "/desk/charts": chartsPage,
  "/desk/keys": keysPage,
  "/desk/*": async () => notHere("There is no such page."),
};

const signOut: Work<FormVisit> = async ({ context, session }) =>
  redirect("/desk/sign-in", { "set-cookie": await closeSession(context, session) });

const forms = formWorks({
  ...queueForms,
  ...reviewForms,
  ...pickForms,
  ...profileForms,
  ...undoForms,
});

/** The fonts of the site, so that the desk has them without a bundle. */
const fontFiles = ["figtree.woff2", "fraunces.woff2"] as const;

/** The operator's desk: pages that work without a script. All but the sign-in form need a session. */
export function deskRoutes(context: Context) {
  const routes = new Elysia()
    .get("/desk/desk.css", () => fileAnswer(style, "text/css; charset=utf-8"))
    .get("/desk/sign-in", onSignIn(context, signInPage))
    .post("/desk/sign-in", onSignIn(context, signIn));
  for (const name of fontFiles) {
    const font = new Uint8Array(
      readFileSync(join(import.meta.dirname, "../../../content/editorial/fonts", name)),
    );
    routes.get(`/desk/${name}`, () => fileAnswer(font, "font/woff2"));
  }
  for (const [path, work] of Object.entries(pages)) routes.get(path, onVisit(context, work));
  for (const [path, work] of [["/desk/sign-out", signOut] as const, ...forms])
    routes.post(path, onForm(context, work));
  return routes;
}
