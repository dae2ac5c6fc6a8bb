/**
 * A constructed sheet, which a page's policy lets through where it refuses style elements. `!important` on the host
 * wins over every rule of the page around it, theirs included.
 */
export function shadowStyles(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  return sheet;
}

const rules = `
:host { all: initial !important; display: inline-block !important; direction: ltr !important; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, a, dialog { font: 16px/1.5 system-ui, sans-serif; }
:focus-visible { outline: 3px solid #2f8f78; outline-offset: 2px; }
.open, .main { background: #14584a; border: 0; border-radius: 6px; color: #fff; cursor: pointer; display: inline-block;
  font-weight: 600; padding: .5em 1.2em; text-decoration: none; }
dialog { background: #fff; border: 0; border-radius: 10px; color: #1c2321; max-height: 92vh; max-width: 24em; overflow: auto;
  padding: 1.25em; width: 92vw; }
dialog::backdrop { background: rgb(0 0 0 / .55); }
header { align-items: start; display: flex; gap: 1em; justify-content: space-between; }
h2 { font-size: 1.2em; line-height: 1.3; margin: 0 0 .6em; overflow-wrap: anywhere; }
p { margin: 0 0 .8em; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-bottom: .3em; }
.presets, .field { display: flex; flex-wrap: wrap; gap: .5em; margin-bottom: .6em; }
.presets button, .plain { background: #fff; border: 1px solid #56605c; border-radius: 6px; color: inherit; cursor: pointer;
  padding: .25em .9em; }
.presets [aria-pressed="true"] { border-color: #14584a; box-shadow: inset 0 0 0 1px #14584a; }
input { border: 1px solid #56605c; border-radius: 6px; background: #fff; color: inherit; flex: 1; min-width: 0; padding: .4em .7em; }
.notice { background: #fdf1d8; border-left: 4px solid #b07a15; padding: .6em .8em; }
.qr svg { display: block; height: auto; margin: 0 auto 1em; max-width: 100%; }
.found { font-weight: 600; }
.found:empty { display: none; }
code { font: .85em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.small { color: #56605c; font-size: .9em; }
a { color: #14584a; }
a.main { color: #fff; }
`;
