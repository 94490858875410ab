// Pools with their hit rates, each with the size classes of its buffers.

import { bytes } from "./format.js";
import { fillPanel } from "./dom.js";
import { bytesCell, countCell, empty, gauge, named, none, text } from "./cells.js";

// dropped returns how many objects were put and not kept, whatever the reason: the
// statistics have a number for each.
export function dropped(p) {
  return Object.keys(p).filter((key) => key.startsWith("Dropped")).reduce((sum, key) => sum + p[key], 0);
}

export function render(s) {
  fillPanel(document.getElementById("pools"), s.Pools.flatMap((p) => [
    {
      cells: [
        named(p.Name), text(p.Type), gauge(p.Hits, p.Hits + p.Misses),
        countCell(p.Hits), countCell(p.Misses), countCell(p.Puts), countCell(p.InUse), countCell(p.HighWater),
        countCell(p.Idle), bytesCell(p.Bytes), countCell(p.Floor),
        p.Max ? countCell(p.Max) : none, p.MaxBytes ? bytesCell(p.MaxBytes) : none,
        countCell(p.Trimmed), countCell(dropped(p)),
      ],
    },
    ...(p.Classes ?? []).map((c) => ({
      class: "part",
      cells: [
        named(bytes(c.Size)), text("size class"), gauge(c.Hits, c.Hits + c.Misses),
        countCell(c.Hits), countCell(c.Misses), countCell(c.Puts), countCell(c.InUse), empty,
        countCell(c.Idle), empty, empty, empty, empty, countCell(c.Trimmed), countCell(c.Dropped),
      ],
    })),
  ]));
}
