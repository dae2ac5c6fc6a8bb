import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { redirect, styleAnswer } from "./answer.ts";
import { chartsPage, healthPage } from "./health-page.ts";
import { style } from "./layout.ts";
import { logPage, undoAgent, undoPage, undoVerification } from "./log-page.ts";
import { addPickPage, editPickPage, pickPage, picksPage, removePickPage } from "./picks-page.ts";
import { overviewPage, queuePage, queuesPage } from "./queues.ts";
import { decidePage, nextPage, reviewPage } from "./review-page.ts";
import { closeSession, signIn, signInPage } from "./session.ts";
import { notHere, onForm, onSignIn, onVisit, type Sent, type Visit, type Work } from "./visit.ts";
import { webhooksForm, webhooksPage } from "./webhooks-page.ts";

const pages: Readonly<Record<string, Work<Visit>>> = {
  "/desk": overviewPage,
  "/desk/queues": queuesPage,
  "/desk/queues/:name": (visit, { name = "" }) => queuePage(visit, name),
  "/desk/reviews/:id": (visit, { id = "" }) => reviewPage(visit, id),
  "/desk/reviews/:id/next": (visit, { id = "" }) => nextPage(visit, id),
  "/desk/picks": (visit) => picksPage(visit),
  "/desk/picks/:slug": (visit, { slug = "" }) => pickPage(visit, slug),
  "/desk/undo": (visit) => undoPage(visit),
  "/desk/log": logPage,
  "/desk/health": healthPage,
  "/desk/charts": chartsPage,
  "/desk/webhooks": (visit) => webhooksPage(visit),
  "/desk/*": async () => notHere("There is no such page."),
};

const forms: Readonly<Record<string, Work<Sent>>> = {
  "/desk/sign-out": async ({ context, session }) =>
    redirect("/desk/sign-in", { "set-cookie": await closeSession(context, session) }),
  "/desk/reviews/:id": (sent, { id = "" }) => decidePage(sent, id),
  "/desk/picks": addPickPage,
  "/desk/picks/:slug": (sent, { slug = "" }) => editPickPage(sent, slug),
  "/desk/picks/:slug/remove": (sent, { slug = "" }) => removePickPage(sent, slug),
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
