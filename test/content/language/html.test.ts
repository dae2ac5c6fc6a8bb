import { describe, expect, test } from "bun:test";
import { html } from "#content/language/html.ts";

const attack = `"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;`;

describe("a template", () => {
  test("escapes every value, in text and in attributes", () => {
    const made = html`<a title="${attack}">${attack}</a>`.toString();
    expect(made).not.toContain("<script");
    expect(made).not.toContain("<img");
    expect(made.match(/"/g)).toHaveLength(2);
    expect(made).toContain("&amp;amp;");
  });

  test("takes pieces of HTML, lists, numbers, and nothing", () => {
    const items = ["<a>", "b"].map((one) => html`<li>${one}</li>`);
    expect(html`${items}${7}${null}${undefined}${false}${""}`.toString()).toBe(
      "<li>&lt;a&gt;</li><li>b</li>7",
    );
    expect(html`${[[html`<b>x</b>`], "<"]}`.toString()).toBe("<b>x</b>&lt;");
  });

  test("does not take what merely looks like HTML", () => {
    const forged = { toString: () => "<b>" } as unknown as string;
    expect(() => html`${forged}`.toString()).toThrow();
  });

  test("refuses a value in an attribute without quotes", () => {
    expect(() => html`<a href=${attack}>x</a>`).toThrow("unquoted");
    expect(() => html`<a class="b" href=${attack}>x</a>`).toThrow("unquoted");
    expect(() => html`<a href=/x/${attack}>x</a>`).toThrow("unquoted");
    expect(
      () =>
        html`<script>
          ${attack};
        </script>`,
    ).toThrow("a script");
    expect(
      () =>
        html`<style>
          p {
            color: ${attack};
          }
        </style>`,
    ).toThrow("a style");
    expect(
      html`<script>
          1;
        </script>
        <p ${html`hidden`}>${2}</p>`.toString(),
    ).toContain("<p hidden>2");
    expect(html`<a href="/x?days=${7}">=${7}</a>`.toString()).toBe('<a href="/x?days=7">=7</a>');
    expect(html`<a href="/x?a=${1}&b=${2}">x</a>`.toString()).toBe('<a href="/x?a=1&b=2">x</a>');
    expect(html`<p>1 + 1 = ${2}</p>`.toString()).toBe("<p>1 + 1 = 2</p>");
  });
});
