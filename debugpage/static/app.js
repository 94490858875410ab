// Asks for stats.json every two seconds and hands it to the panels.

import { copy } from "./copy.js";
import { setText } from "./dom.js";
import { asText } from "./text.js";
import * as header from "./panel_header.js";
import * as leaks from "./panel_leaks.js";
import * as historyPanel from "./panel_history.js";
import * as icicle from "./panel_icicle.js";
import * as limits from "./panel_limits.js";
import * as names from "./panel_names.js";
import * as ranked from "./panel_ranked.js";
import * as caches from "./panel_caches.js";
import * as pools from "./panel_pools.js";

const panels = [header, leaks, historyPanel, icicle, limits, names, ranked, caches, pools];
const format = "haven/1";
const every = 2000; // milliseconds

const pauseButton = document.getElementById("pause");
const copyButton = document.getElementById("copy");
const state = document.getElementById("state");

let shown = null; // the latest answer
let paused = false;
let asking = null; // what ends the present request
let timer = 0;

// ask shows how things are now and comes back. The pause is at least twenty times
// what the answer cost the server, so that a page that is left open takes no more
// than a twentieth of a CPU.
async function ask() {
  clearTimeout(timer);
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  let wait = every;
  try {
    const answer = await fetch("stats.json", { cache: "no-store", signal: AbortSignal.any([mine.signal, AbortSignal.timeout(30000)]) });
    if (!answer.ok) throw new Error(`the server says ${answer.status}`);
    const stats = await answer.json();
    if (mine.signal.aborted) return;
    if (stats.Format !== format) throw new Error(`stats.json has format ${stats.Format}, this page knows ${format}: reload it`);
    wait = Math.max(every, 20 * stats.Took / 1e6);
    show(stats);
    say("Live");
  } catch (error) {
    if (mine.signal.aborted) return;
    say(`No answer (${error.message}). Trying again. Figures are of`);
  }
  timer = setTimeout(ask, wait);
}

function stop() {
  clearTimeout(timer);
  asking?.abort();
}

function show(stats) {
  shown = stats;
  for (const p of panels) p.render(stats);
  copyButton.disabled = false;
}

function say(text) {
  setText(state, text);
  document.body.classList.toggle("stale", text !== "Live" && !paused);
}

pauseButton.addEventListener("click", () => {
  paused = !paused;
  pauseButton.setAttribute("aria-pressed", paused);
  if (paused) {
    stop();
    say("Paused at");
  } else {
    ask();
  }
});

copyButton.addEventListener("click", async () => {
  const done = await copy(asText(shown));
  setText(copyButton, done ? "Copied" : "Copy as text");
  setTimeout(() => setText(copyButton, "Copy as text"), 2000);
});

// A page that nobody sees asks nothing.
document.addEventListener("visibilitychange", () => {
  if (paused) return;
  if (document.hidden) stop();
  else ask();
});

pauseButton.hidden = copyButton.hidden = false;
copyButton.disabled = true;
document.getElementById("icicle").hidden = false;
ask();
