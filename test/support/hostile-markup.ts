/** Each would run, break out of its place, or load something, on a page that forgot to escape it. */
export const hostileMarkup: readonly string[] = [
  `<script>alert(1)</script>`,
  `<img src=x onerror=alert(2)>`,
  `"><svg onload=alert(3)>`,
  `' onmouseover='alert(4)' x='`,
  `</textarea><script>alert(5)</script>`,
  `</title><script>alert(6)</script>`,
  `<iframe srcdoc="<script>alert(7)</script>">`,
  `javascript:alert(8)`,
  `<a href="javascript:alert(9)">x</a>`,
  `{{constructor.constructor('alert(10)')()}}`,
  `<style>*{background:url(//evil.example/x)}</style>`,
  `<link rel=stylesheet href=//evil.example/x.css>`,
  `<form action=//evil.example><input autofocus onfocus=alert(11)>`,
  `<base href=//evil.example/>`,
  `&lt;script&gt;alert(12)&lt;/script&gt;`,
  `\u2028alert(13)\u2029`,
  `<meta http-equiv=refresh content="0;url=//evil.example">`,
  `<!--<img src="--><img src=x onerror=alert(14)//">`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=alert(15)>`,
  `data:text/html,<script>alert(16)</script>`,
];

/** What every object of JavaScript has: a table that is looked in by what somebody wrote must not answer with it. */
export const hostileNames: readonly string[] = [
  "constructor",
  "__proto__",
  "toString",
  "valueOf",
  "hasOwnProperty",
];
