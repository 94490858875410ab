// Names of contexts, ranked by bytes. The package's panel_ranked.go does the same.

import { share } from "./format.js";
import { fillPanel } from "./dom.js";
import { bytesCell, countCell, named, rank, text, trend } from "./cells.js";

const most = 50;

export function ranked(s) {
  return [...s.Names].sort((a, b) => b.Bytes - a.Bytes);
}

export function render(s) {
  const list = ranked(s).slice(0, most);
  fillPanel(document.getElementById("names"), list.map((n) => ({
    cells: [
      named(n.Name), rank(n.Bytes, list[0].Bytes, s.Totals.ContextBytes), bytesCell(n.Bytes),
      trend(s.History, s.History.Series.find((x) => x.OfName && x.Name === n.Name)),
      countCell(n.Live), countCell(n.Held), bytesCell(n.HighWater),
      countCell(n.Created), countCell(n.Deleted), countCell(n.Abandoned), countCell(n.Dropped), countCell(n.LimitErrors),
      countCell(n.Warm.Idle), bytesCell(n.Warm.Reserved), text(share(n.Warm.Hits, n.Warm.Gets), ""),
    ],
  })));
}
