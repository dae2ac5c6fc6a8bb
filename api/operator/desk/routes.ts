import { Elysia } from "elysia";
import type { Parts } from "#api/context.ts";
import { redirect, styleAnswer } from "./answer.ts";
import { chartsPage } from "./charts-page.ts";
import { style } from "./frame.ts";
import { healthPage } from "./health-page.ts";
import { logPage } from "./log-page.ts";
import { addPickPage, editPickPage, removePickPage } from "./picks-forms.ts";
import { pickPage, picksPage } from "./picks-page.ts";
import { overviewPage, queuePage, queuesPage } from "./queues.ts";
import { decidePage, nextPage } from "./review-decision.ts";
import { reviewPage } from "./review-page.ts";
import { closeSession } from "./session.ts";
import { signInPage } from "./sign-in.ts";
import { undoAgent, undoPage, undoVerification } from "./undo-page.ts";
import { notHere, onForm, onSignIn, onVisit } from "./visit.ts";
import { webhooksForm, webhooksPage } from "./webhooks-page.ts";

/** The operator's desk: pages that work without a script. Every one but the form to sign in needs a session. */
export const deskRoutes = (parts: Parts) =>
  new Elysia()
    .get("/desk/desk.css", () => styleAnswer(style))
    .get("/desk/sign-in", ({ request }) => signInPage(parts, request, { status: 200 }))
    .post("/desk/sign-in", onSignIn(parts))
    .post(
      "/desk/sign-out",
      onForm(parts, async ({ session }) =>
        redirect("/desk/sign-in", { "set-cookie": await closeSession(parts, session) }),
      ),
    )
    .get("/desk", onVisit(parts, overviewPage))
    .get("/desk/queues", onVisit(parts, queuesPage))
    .get(
      "/desk/queues/:kind",
      onVisit(parts, (visit, { kind = "" }) => queuePage(visit, kind)),
    )
    .get(
      "/desk/reviews/:id",
      onVisit(parts, (visit, { id = "" }) => reviewPage(visit, id)),
    )
    .get(
      "/desk/reviews/:id/next",
      onVisit(parts, (visit, { id = "" }) => nextPage(visit, id)),
    )
    .post(
      "/desk/reviews/:id",
      onForm(parts, (visit, { id = "" }) => decidePage(visit, id)),
    )
    .get(
      "/desk/picks",
      onVisit(parts, (visit) => picksPage(visit)),
    )
    .post("/desk/picks", onForm(parts, addPickPage))
    .get(
      "/desk/picks/:slug",
      onVisit(parts, (visit, { slug = "" }) => pickPage(visit, slug)),
    )
    .post(
      "/desk/picks/:slug",
      onForm(parts, (visit, { slug = "" }) => editPickPage(visit, slug)),
    )
    .post(
      "/desk/picks/:slug/remove",
      onForm(parts, (visit, { slug = "" }) => removePickPage(visit, slug)),
    )
    .get(
      "/desk/undo",
      onVisit(parts, (visit) => undoPage(visit)),
    )
    .post("/desk/undo/agent", onForm(parts, undoAgent))
    .post("/desk/undo/verification", onForm(parts, undoVerification))
    .get("/desk/log", onVisit(parts, logPage))
    .get("/desk/health", onVisit(parts, healthPage))
    .get("/desk/charts", onVisit(parts, chartsPage))
    .get(
      "/desk/webhooks",
      onVisit(parts, (visit) => webhooksPage(visit)),
    )
    .post("/desk/webhooks", onForm(parts, webhooksForm))
    .get(
      "/desk/*",
      onVisit(parts, async () => notHere("There is no such page.")),
    );
