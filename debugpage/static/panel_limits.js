// What has a bound, what is nearest to its own in front. The package's
// panel_limits.go makes the same.

import { count } from "./format.js";
import { fillPanel } from "./dom.js";
import { bytesCell, countCell, gauge, none, pathCell, text } from "./cells.js";

const most = 12;

export function limits(s) {
  const list = [];
  const add = (kind, name, unit, used, limit, reserved = 0) => {
    if (limit > 0) list.push({ kind, name, unit, used, limit, reserved, near: used >= limit - Math.trunc(limit / 5) });
  };
  add("process", "GOMEMLIMIT", "bytes", s.Process.Mapped, s.Process.MemoryLimit);
  for (const c of s.Contexts) add("context", c.Path, "bytes", c.Total.Bytes, c.Limit, c.Reserve);
  for (const c of s.Caches) add("cache", c.Name, "objects", c.InUse, c.Capacity);
  for (const p of s.Pools) {
    add("pool", `${p.Name}, idle`, "objects", p.Idle, p.Max);
    add("pool", `${p.Name}, idle`, "bytes", p.Bytes, p.MaxBytes);
  }
  list.sort((a, b) => b.used / b.limit - a.used / a.limit);
  return list;
}

export function render(s) {
  const panel = document.getElementById("limits");
  const list = limits(s);
  const number = (l, n) => l.unit === "bytes" ? bytesCell(n) : countCell(n, " objects");
  fillPanel(panel, list.slice(0, most).map((l) => ({
    class: l.near ? "near" : "",
    cells: [
      pathCell(l.name), text(l.kind), gauge(l.used, l.limit), number(l, l.used), number(l, l.limit),
      l.reserved ? bytesCell(l.reserved) : none,
    ],
  })));
  const more = panel.querySelector(".more");
  more.hidden = list.length <= most;
  more.textContent = `${count(list.length - most)} more, with more room.`;
}
