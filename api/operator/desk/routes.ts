import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { redirect, styleAnswer } from "./answer.ts";
import { chartsPage, healthPage } from "./health-page.ts";
import { style } from "./layout.ts";
import { logPage, undoAgent, undoPage, undoVerification } from "./log-page.ts";
import { addPickPage, editPickPage, pickPage, picksPage, removePickPage } from "./picks-page.ts";
import { overviewPage, queuePage, queuesPage } from "./queues.ts";
import { decidePage, nextPage, reviewPage } from "./review-page.ts";
import { closeSession, signInPage } from "./session.ts";
import { notHere, onForm, onSignIn, onVisit } from "./visit.ts";
import { webhooksForm, webhooksPage } from "./webhooks-page.ts";

/** The operator's desk: pages that work without a script. Every one but the form to sign in needs a session. */
export const deskRoutes = (context: Context) =>
  new Elysia()
    .get("/desk/desk.css", () => styleAnswer(style))
    .get("/desk/sign-in", ({ request }) => signInPage(context, request, { status: 200 }))
    .post("/desk/sign-in", onSignIn(context))
    .post(
      "/desk/sign-out",
      onForm(context, async ({ session }) =>
        redirect("/desk/sign-in", { "set-cookie": await closeSession(context, session) }),
      ),
    )
    .get("/desk", onVisit(context, overviewPage))
    .get("/desk/queues", onVisit(context, queuesPage))
    .get(
      "/desk/queues/:kind",
      onVisit(context, (visit, { kind = "" }) => queuePage(visit, kind)),
    )
    .get(
      "/desk/reviews/:id",
      onVisit(context, (visit, { id = "" }) => reviewPage(visit, id)),
    )
    .get(
      "/desk/reviews/:id/next",
      onVisit(context, (visit, { id = "" }) => nextPage(visit, id)),
    )
    .post(
      "/desk/reviews/:id",
      onForm(context, (visit, { id = "" }) => decidePage(visit, id)),
    )
    .get(
      "/desk/picks",
      onVisit(context, (visit) => picksPage(visit)),
    )
    .post("/desk/picks", onForm(context, addPickPage))
    .get(
      "/desk/picks/:slug",
      onVisit(context, (visit, { slug = "" }) => pickPage(visit, slug)),
    )
    .post(
      "/desk/picks/:slug",
      onForm(context, (visit, { slug = "" }) => editPickPage(visit, slug)),
    )
    .post(
      "/desk/picks/:slug/remove",
      onForm(context, (visit, { slug = "" }) => removePickPage(visit, slug)),
    )
    .get(
      "/desk/undo",
      onVisit(context, (visit) => undoPage(visit)),
    )
    .post("/desk/undo/agent", onForm(context, undoAgent))
    .post("/desk/undo/verification", onForm(context, undoVerification))
    .get("/desk/log", onVisit(context, logPage))
    .get("/desk/health", onVisit(context, healthPage))
    .get("/desk/charts", onVisit(context, chartsPage))
    .get(
      "/desk/webhooks",
      onVisit(context, (visit) => webhooksPage(visit)),
    )
    .post("/desk/webhooks", onForm(context, webhooksForm))
    .get(
      "/desk/*",
      onVisit(context, async () => notHere("There is no such page.")),
    );
