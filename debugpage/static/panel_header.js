// The line about the process.

import { count, duration } from "./format.js";
import { set, setText } from "./dom.js";

export function describe(p) {
  return `process ${p.PID}, ${p.Go} ${p.OS}/${p.Arch}, GOMAXPROCS ${p.Procs}, ${count(p.Goroutines)} goroutines, up ${duration(p.Uptime)}`;
}

export function render(s) {
  setText(document.getElementById("process"), describe(s.Process));
  const time = document.getElementById("time");
  set(time, "datetime", s.Time);
  setText(time, new Date(s.Time).toTimeString().slice(0, 8));
}
