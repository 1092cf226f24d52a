/** Style of a drawing inside its shadow root, in the colors of the theme. */

const STYLE = `
svg{position:absolute;inset:-50%;width:200%;height:200%;transform-origin:0 0;overflow:hidden;will-change:transform}
.b{fill:none}
.p{fill:none;stroke:var(--text);stroke-width:1.6;stroke-linejoin:round}
.a{fill:var(--text)}
.g{fill:none;stroke:var(--close);stroke-width:1;stroke-dasharray:5 3}
.o{fill:none;stroke:var(--close);stroke-width:.8}
.s{fill:var(--surface);stroke:var(--text);stroke-width:1.3;stroke-linejoin:round}
.n{fill:none;stroke:var(--text);stroke-width:1.3;stroke-linecap:round}
.d{fill:none;stroke:var(--text);stroke-width:.9;stroke-dasharray:3 2}
.w{fill:none;stroke:var(--text);stroke-width:3}
.f{fill:var(--text);stroke:var(--text);stroke-width:.8}
text{font-family:var(--font);text-anchor:middle;fill:var(--text);paint-order:stroke;stroke:var(--surface);
  stroke-width:2.5;stroke-linejoin:round;pointer-events:none}
.e{font-weight:bold}.z{fill:var(--text-muted)}.l{fill:var(--warning)}
.m{fill:var(--text-muted);text-anchor:end}.k{text-anchor:start}
[data-id]{cursor:pointer}
.mark{fill:var(--tone);fill-opacity:.28;stroke:var(--tone);stroke-width:1.5;pointer-events:none}
path.mark{fill:none;stroke-width:7;stroke-opacity:.5;stroke-linejoin:round;stroke-linecap:round}
.mark.hit{--tone:var(--accent)}.mark.close{--tone:var(--close)}.mark.inside{--tone:var(--mark-inside)}
.mark.open,.mark.removed{--tone:var(--danger)}.mark.added{--tone:var(--success)}.mark.changed{--tone:var(--warning)}
.mark.selected{--tone:var(--accent);fill-opacity:.12;stroke-width:2.5;stroke-dasharray:5 3}
path.mark.selected{stroke-width:5;stroke-dasharray:none;stroke-opacity:.8}
`;

let sheet: CSSStyleSheet | null = null;

export function drawingSheet(): CSSStyleSheet {
  if (sheet === null) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  return sheet;
}
