// What has a bound, what is nearest to its own in front. What is not half used is
// folded away. The package's panel_limits.go makes the same.

import { count } from "./format.js";
import { fill } from "./dom.js";
import { bytesCell, countCell, gauge, groupCell, none, pathCell, text } from "./cells.js";

const most = 12;

export const name = (l) => l.Siblings ? `${l.Name} ×${count(l.Siblings)}` : l.Kind === "pool" ? `${l.Name}, idle` : l.Name;

export function render(s) {
  const panel = document.getElementById("limits");
  const half = s.Limits.filter((l) => l.Used >= l.Limit - Math.trunc(l.Limit / 2)).length;
  const shown = Math.min(half, most);
  const [table, rest] = panel.querySelectorAll("tbody");
  fill(table, s.Limits.slice(0, shown).map(row));
  fill(rest, s.Limits.slice(shown).map(row));
  table.closest(".scroll").hidden = shown === 0;
  const folded = document.getElementById("limits-folded");
  folded.hidden = s.Limits.length === shown;
  folded.querySelector("summary").textContent = `${count(s.Limits.length - shown + s.MoreLimits)} more${shown === half ? ", all below 50 %" : ""}`;
  panel.querySelector(".empty").hidden = s.Limits.length > 0;
}

function row(l) {
  const number = (n) => l.Unit === "bytes" ? bytesCell(n) : countCell(n, " objects");
  return {
    class: l.Used >= l.Limit - Math.trunc(l.Limit / 5) ? "near" : "",
    cells: [
      l.Members ? groupCell(name(l), l.Name, l.Members) : pathCell(name(l)), text(l.Members ? `fullest ${l.Kind}` : l.Kind),
      gauge(l.Used, l.Limit), number(l.Used), number(l.Limit), l.Reserve ? bytesCell(l.Reserve) : none,
    ],
  };
}
