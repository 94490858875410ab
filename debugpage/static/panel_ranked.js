// Contexts, ranked by bytes of their own. The package's panel_ranked.go does the
// same.

import { duration } from "./format.js";
import { fillPanel } from "./dom.js";
import { bytesCell, countCell, pathCell, rank, text } from "./cells.js";

const most = 20;

export function largest(s) {
  return s.Contexts.filter((r) => r.Own.Bytes > 0).sort((a, b) => b.Own.Bytes - a.Own.Bytes).slice(0, most);
}

export function render(s) {
  const list = largest(s);
  fillPanel(document.getElementById("ranked"), list.map((r) => ({
    class: r.Deleted ? "deleted" : "",
    cells: [
      pathCell(r.Path, ...(r.Deleted ? ["deleted"] : [])), rank(r.Own.Bytes, list[0].Own.Bytes, s.Totals.ContextBytes),
      bytesCell(r.Own.Bytes), countCell(r.Own.Chunks), bytesCell(r.Own.HighWater), bytesCell(r.Total.Bytes),
      countCell(r.Leases), countCell(r.Resets), text(duration(r.Age), ""),
    ],
  })));
}
