import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { redirect, styleAnswer } from "./answer.ts";
import { chartsPage, healthPage } from "./health-page.ts";
import { style } from "./layout.ts";
import { logPage, undoAgent, undoPage, undoVerification } from "./log-page.ts";
import { addPickPage, editPickPage, pickPage, picksPage, removePickPage } from "./picks-page.ts";
import { changeProfilePage, profilePage, profilesPage } from "./profiles-page.ts";
import { decideQueuePage, overviewPage, queuePage, queuesPage } from "./queues.ts";
import { checkPage, decidePage, nextPage, reviewPage } from "./review-page.ts";
import { closeSession, signIn, signInPage } from "./session.ts";
import { notHere, onForm, onSignIn, onVisit, type Sent, type Visit, type Work } from "./visit.ts";
import { webhooksForm, webhooksPage } from "./webhooks-page.ts";

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
  "/desk/webhooks": webhooksPage,
  "/desk/*": async () => notHere("There is no such page."),
};

const forms: Readonly<Record<string, Work<Sent>>> = {
  "/desk/sign-out": async ({ context, session }) =>
    redirect("/desk/sign-in", { "set-cookie": await closeSession(context, session) }),
  "/desk/queues/:name": decideQueuePage,
  "/desk/reviews/:id": decidePage,
  "/desk/reviews/:id/check": checkPage,
  "/desk/picks": addPickPage,
  "/desk/picks/:slug": editPickPage,
  "/desk/picks/:slug/remove": removePickPage,
  "/desk/profiles/:slug": changeProfilePage,
  "/desk/undo/agent": undoAgent,
  "/desk/undo/verification": undoVerification,
  "/desk/webhooks": webhooksForm,
};

/** The operator's desk: pages that work without a script. Every one but the form to sign in needs a session. */
export function deskRoutes(context: Context) {
  const routes = new Elysia()
    .get("/desk/desk.css", () => styleAnswer(style))
    .get("/desk/sign-in", onSignIn(context, signInPage))
    .post("/desk/sign-in", onSignIn(context, signIn));
  for (const [path, work] of Object.entries(pages)) routes.get(path, onVisit(context, work));
  for (const [path, work] of Object.entries(forms)) routes.post(path, onForm(context, work));
  return routes;
}
