// The tiles: totals and their last minutes.

import { bytes, count, share } from "./format.js";
import { el } from "./dom.js";
import { curve } from "./curve.js";

export function render(s) {
  const p = s.Process, t = s.Totals;
  tile(s, "tile-context-bytes", "context bytes", t.ContextBytes, bytes, `${bytes(t.WarmBytes)} more in warm arenas`);
  tile(s, "tile-contexts", "contexts", t.Contexts, count, `of ${count(s.Names.length)} names`);
  tile(s, "tile-cache-bytes", "cache bytes", t.CacheBytes, bytes, `slabs of ${count(s.Caches.length)} caches`);
  tile(s, "tile-idle-bytes", "idle bytes of pools", t.IdleBytes, bytes, `in ${count(s.Pools.length)} pools`);
  tile(s, "tile-heap", "heap", p.Heap, bytes, `goal ${bytes(p.HeapGoal)}, mapped ${bytes(p.Mapped)}`);
  tile(s, "tile-gc-cpu", "GC CPU", p.GCCPU, (f) => share(f, 1), `since the start, ${count(p.GCCycles)} cycles`);
}

function tile(s, id, name, value, show, note) {
  const e = document.getElementById(id);
  const data = el("data", { value }, show(value));
  if (show === bytes) data.title = `${count(value)} bytes`;
  e.querySelector(".figure").replaceChildren(data);
  e.querySelector(".note").textContent = note;
  e.querySelector(".plot")?.remove();
  const series = s.History.Series.find((x) => !x.OfName && x.Name === name);
  if (series) e.append(curve(s.History, series));
}
