// The page as plain text, for a message or a ticket: what is shown, not what is
// there by now.

import { bytes, count, duration, label, share } from "./format.js";
import { describe } from "./panel_header.js";
import { name } from "./panel_limits.js";
import { ranked } from "./panel_names.js";
import { largest } from "./panel_ranked.js";
import { dropped } from "./panel_pools.js";

export function asText(s) {
  const p = s.Process, t = s.Totals;
  return [
    `Haven, ${p.Program} at ${s.Time}`,
    describe(p),
    "",
    `in contexts  ${bytes(t.ContextBytes)} in ${count(t.Contexts)}, ${bytes(t.WarmBytes)} more in warm arenas`,
    `in caches    ${bytes(t.CacheBytes)}`,
    `idle         ${bytes(t.IdleBytes)} in pools`,
    `Go heap      ${bytes(p.Heap)}, goal ${bytes(p.HeapGoal)}, mapped ${bytes(p.Mapped)}`,
    `GC CPU       ${share(p.GCCPU, 1)} since the start, ${count(p.GCCycles)} cycles`,
    ...leaks(s),
    ...section("Memory contexts", ["context", "with all below", "own", "peak", "limit", "contexts", "age"], tree(s)),
    ...section("Limits", ["of", "kind", "share", "used", "limit"], s.Limits.map((l) => {
      const show = l.Unit === "bytes" ? bytes : (n) => `${count(n)} objects`;
      return [name(l), l.Kind, share(l.Used, l.Limit), show(l.Used), show(l.Limit)];
    })),
    ...section("Contexts by name", ["name", "bytes", "live", "held", "largest", "created", "deleted", "abandoned", "dropped", "refused", "warm"],
      ranked(s).map((n) => [n.Name, bytes(n.Bytes), count(n.Live), count(n.Held), bytes(n.HighWater), count(n.Created),
        count(n.Deleted), count(n.Abandoned), count(n.Dropped), count(n.LimitErrors), bytes(n.Warm.Reserved)])),
    ...section("Largest contexts", ["context", "own", "chunks", "peak", "age"],
      largest(s).map((r) => [r.Path, bytes(r.Own.Bytes), count(r.Own.Chunks), bytes(r.Own.HighWater), duration(r.Age)])),
    ...section("Slab caches", ["name", "active_objs", "num_objs", "objsize", "objperslab", "active_slabs", "num_slabs", "bytes", "hit rate"],
      s.Caches.map((c) => [c.Name, count(c.InUse), count(c.Objects), count(c.ObjectSize), count(c.PerSlab),
        count(c.SlabsInUse), count(c.Slabs), bytes(c.Bytes), share(c.Hits, c.Hits + c.Misses)])),
    ...section("Pools", ["name", "of", "hit rate", "hits", "misses", "in use", "idle", "idle bytes", "dropped"],
      s.Pools.map((x) => [x.Name, x.Type, share(x.Hits, x.Hits + x.Misses), count(x.Hits), count(x.Misses),
        count(x.InUse), count(x.Idle), bytes(x.Bytes), count(dropped(x))])),
    "",
  ].join("\n");
}

function tree(s) {
  const rows = [];
  const open = []; // rows on the way to the present one whose children are not all listed
  const leave = (depth) => {
    while (open.length > 0 && open.at(-1).Depth >= depth) {
      const r = open.pop();
      if (r.More > 0) rows.push([`${indent(r.Depth + 1)}${count(r.More)} more`, bytes(r.MoreBytes), "", "", "", "", ""]);
    }
  };
  for (const r of s.Contexts) {
    leave(r.Depth);
    open.push(r);
    rows.push([
      indent(r.Depth) + plain(label(r)) + (r.Deleted ? " (deleted)" : ""), bytes(r.Total.Bytes), bytes(r.Own.Bytes), bytes(r.Total.HighWater),
      r.Limit ? bytes(r.Limit) : "", count(r.Contexts), duration(r.Age),
    ]);
  }
  leave(0);
  if (s.Unlisted > 0) rows.push([`${count(s.Unlisted)} more`, bytes(s.UnlistedBytes), "", "", "", "", ""]);
  return rows;
}

const indent = (depth) => "  ".repeat(Math.min(depth, 24));

// plain keeps a name from doing what it likes to a terminal.
const plain = (s) => /\p{C}/u.test(s) ? s.replace(/\p{C}/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`) : s;

// section returns the lines of a table, or nothing if it has no rows. The first
// column is at the left, the others at the right.
function section(title, head, rows) {
  if (rows.length === 0) return [];
  const table = [head, ...rows.map((row) => row.map(plain))];
  const widths = head.map((_, j) => Math.max(...table.map((row) => row[j].length)));
  const line = (row) => row.map((cell, j) => j === 0 ? cell.padEnd(widths[j]) : cell.padStart(widths[j])).join("  ").trimEnd();
  return ["", title, ...table.map(line)];
}

function leaks(s) {
  if (s.Leaks.length === 0) return [];
  return ["", "Leaks", ...s.Leaks.flatMap((l) => [
    `${count(l.Count)} × ${l.What} ${plain(l.Path || l.Name)} ${l.Kind}: ${bytes(l.Bytes)}, ${duration(l.Age)} old`,
    ...(l.Released ? [`  ${plain(l.Type)}, released at`, ...stack(l.Released)] : []),
    ...(l.Released && l.Stack ? ["  made at"] : []),
    ...stack(l.Stack),
  ])];
}

function stack(text) {
  return text.split("\n").filter((x) => x !== "").map((x) => `    ${x.split("\t").map(plain).join("    ")}`);
}
