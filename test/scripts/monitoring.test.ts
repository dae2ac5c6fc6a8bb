import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { checks } from "#content/operation/checks.ts";
import helps from "#content/editorial/metrics.json";
import { theService } from "#test/support/service.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const Alerts = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(["page", "ticket"]) }),
        }),
      ),
    }),
  ),
});
const Dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
});
const rules = Alerts.parse(Bun.YAML.parse(read("scripts/monitoring/alerts.yml"))).groups.flatMap(
  (group) => group.rules,
);
const panels = Dashboard.parse(JSON.parse(read("scripts/monitoring/dashboard.json"))).panels;

const { app } = await theService();
const metrics = await app.handle(new Request("http://localhost/metrics"), "127.0.0.1");
const types = (await metrics.text()).matchAll(/^# TYPE (\S+) (\w+)/gm);
/** Their types, by name. */
const known = new Map([...types].map(([, name = "", type = ""]) => [name, type]));

const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

describe("alerts and dashboard", () => {
  test.each(expressions)("name only metrics that there are: %s", (expr) => {
    const named = [...expr.matchAll(/\b(?:almoner|process)_\w+/g)].map(([name]) => name);
    const missing = named.filter((name) => !known.has(name.replace(/_(?:bucket|count|sum)$/, "")));
    expect(missing).toEqual([]);
  });

  test.each(Object.entries(checks).filter(([, { alert }]) => alert !== undefined))(
    "the alert of the check %s has its bound",
    (_, { alert, severity, bound }) => {
      const rule = rules.find((one) => one.alert === alert);
      expect(rule?.labels.severity).toBe(severity);
      const numbers = [...(rule?.expr ?? "").matchAll(/[<>] ([\d.e]+)/g)].map(([, text]) =>
        Number(text),
      );
      if (bound !== undefined) expect(numbers).toContain(bound);
    },
  );

  test("all alerts are those of checks, but for what no service can tell of itself", () => {
    const ofChecks = new Set(Object.values(checks).map(({ alert }) => alert));
    const others = rules.map(({ alert }) => alert).filter((alert) => !ofChecks.has(alert));
    expect(others).toEqual([
      "AlmonerDown",
      "AlmonerInstanceMissing",
      "AlmonerErrors",
      "AlmonerSlow",
    ]);
  });

  test("only counters are asked for their increase", () => {
    const ofGauges = expressions.filter((expr) =>
      /\b(?:increase|rate)\((?!\w+_(?:count|bucket|total)\b)/.test(expr),
    );
    expect(ofGauges).toEqual([]);
    const counters = [...known].filter(([name]) => name.endsWith("_total"));
    expect(counters.filter(([, type]) => type !== "counter")).toEqual([]);
  });

  test("what is the directory's is asked of its services as one number", () => {
    const ofDirectory = Object.entries(helps).flatMap(([name, help]) =>
      help.endsWith("(of the directory)") ? [name] : [],
    );
    const one = new RegExp(
      `\\b(?:max|min)(?: by \\(\\w+\\) )?\\((?:delta\\()?(?:${ofDirectory.join("|")})\\b`,
      "g",
    );
    const many = new RegExp(`\\b(?:${ofDirectory.join("|")})\\b`);
    expect(ofDirectory.length).toBeGreaterThan(5);
    expect(expressions.filter((expr) => many.test(expr.replaceAll(one, "")))).toEqual([]);
    // A service that is missing among several wakes nobody.
    const severity = Object.fromEntries(rules.map(({ alert, labels }) => [alert, labels.severity]));
    expect(severity).toMatchObject({ AlmonerDown: "page", AlmonerInstanceMissing: "ticket" });
  });

  test("each alert is in docs/watching.md, with what to do", () => {
    const page = read("docs/watching.md");
    expect(rules.length).toBeGreaterThan(10);
    const rows = (alert: string) =>
      page.split("\n").filter((line) => line.startsWith(`| \`${alert}\``));
    expect(rules.filter(({ alert }) => rows(alert).length !== 1)).toEqual([]);
    // What can wait until the morning wakes nobody.
    const waits = (alert: string) => /^[^|]*\|[^|]*\(in the morning\)/.test(rows(alert)[0] ?? "");
    const wrong = rules.filter(
      ({ alert, labels }) => waits(alert) !== (labels.severity === "ticket"),
    );
    expect(wrong).toEqual([]);
  });
});
