// A curve of a series over the last minutes. Its lower edge is zero, its upper one
// the highest value; what is right is now.

import { bytes, count, duration, share } from "./format.js";
import { el } from "./dom.js";

const width = 120, height = 28;

export function curve(history, series) {
  const values = series.Values;
  const times = history.Times.slice(history.Times.length - values.length);
  const top = Math.max(...values, 0) || 1;
  const last = times.at(-1) ?? 0;
  const span = last - (history.Times[0] ?? last) || 1;
  const points = values.map((v, i) => [
    width - (last - times[i]) / span * width,
    height - 1 - v / top * (height - 3),
  ].map((n) => n.toFixed(1)).join(" "));
  const svg = el("svg", {
    class: "plot", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": summary(series, span),
  });
  if (points.length > 1) {
    const [left] = points[0].split(" ");
    svg.append(
      el("path", { class: "area", d: `M${left} ${height}L${points.join("L")}L${width} ${height}Z` }),
      el("path", { class: "line", d: `M${points.join("L")}` }));
  }
  svg.append(el("title", {}, summary(series, span)));
  return svg;
}

// summary is the curve in words.
function summary(series, span) {
  const values = series.Values;
  if (values.length < 2) return `${series.Name}: no samples yet`;
  const show = (v) => series.Unit === "bytes" ? bytes(v) : series.Unit === "count" ? count(v) : share(v, 1);
  return `${series.Name}: ${show(values.at(-1))} now, from ${show(Math.min(...values))} to ${show(Math.max(...values))} in ${duration(span * 1e6)}`;
}
