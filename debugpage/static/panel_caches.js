// Slab caches, in the columns of Linux' slabinfo and a few more.

import { fillPanel } from "./dom.js";
import { bytesCell, countCell, gauge, named, none } from "./cells.js";

export function render(s) {
  fillPanel(document.getElementById("caches"), s.Caches.map((c) => ({
    cells: [
      named(c.Name), countCell(c.InUse), countCell(c.Objects), countCell(c.ObjectSize), countCell(c.PerSlab),
      countCell(c.SlabsInUse), countCell(c.Slabs), bytesCell(c.Bytes), gauge(c.Hits, c.Hits + c.Misses),
      countCell(c.Hits), countCell(c.Misses), countCell(c.Frees),
      countCell(c.Magazines), countCell(c.Cached), countCell(c.Depot), c.Capacity ? countCell(c.Capacity) : none,
    ],
  })));
}
