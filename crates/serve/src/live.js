"use strict";
// The page is loaded anew when a data set is finished; what is being made is told above it.
const list = document.getElementById("unfinished");
const frame = document.querySelector("iframe");
const state = document.getElementById("state");
let version = frame.dataset.version;

function told(one) {
  const item = document.createElement("li");
  const size = (one.bytes / 1e6).toFixed(1);
  item.textContent = `${one.name} (${one.schema}): ${one.parts} parts, ${size} MB, last written ${one.seconds} s ago`;
  return item;
}

async function look() {
  try {
    const now = await (await fetch("/state", { cache: "no-store" })).json();
    list.replaceChildren(...now.unfinished.map(told));
    const word = now.unfinished.length ? "being made:" : "nothing is being made";
    // A screen reader says what changes: only that.
    if (state.textContent !== word) state.textContent = word;
    if (now.version !== version) {
      version = now.version;
      frame.src = `/page?${version}`;
    }
  } catch {
    state.textContent = "the server does not answer";
  }
}

setInterval(look, 2000);
look();
