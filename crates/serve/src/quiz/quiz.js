"use strict";
// One kernel after the other, then the score. What comes from data sets is set as text.
const byId = (id) => document.getElementById(id);
const [start, question, end] = ["start", "question", "end"].map(byId);
const choices = { h: byId("human"), m: byId("machine") };
// The token may stand behind `#` in the address, which is sent to nobody.
let token = location.hash.slice(1);
let asked = null;
let since = 0;

async function post(address, body) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  const said = await answer.json();
  if (answer.ok) return said;
  throw Object.assign(new Error(said.error.message), { status: answer.status });
}

function show(section) {
  for (const one of [start, question, end]) one.hidden = one !== section;
  byId("fault").textContent = "";
}

function fail(error) {
  if (error.status === 401) {
    show(start);
    byId("door").hidden = false;
    byId("token").focus();
  } else if (error.status === 404) {
    sessionStorage.removeItem("player");
    show(start);
  }
  byId("fault").textContent = error.message;
}

function come(next) {
  sessionStorage.setItem("player", next.player);
  asked = next.score ? null : next;
  if (next.score) return tell(next);
  show(question);
  byId("heading").textContent = `Kernel ${next.number} of ${next.of}`;
  byId("progress").max = next.of;
  byId("progress").value = next.number - 1;
  byId("program").textContent = next.program;
  byId("kernel").scrollTo(0, 0);
  byId("heading").focus();
  since = performance.now();
  enable(true);
}

function enable(yes) {
  for (const button of Object.values(choices)) button.disabled = !yes;
}

async function answer(button) {
  if (!asked || button.disabled) return;
  const milliseconds = Math.min(Math.round(performance.now() - since), 2 ** 32 - 1);
  enable(false);
  try {
    come(await post("/answers", { player: asked.player, number: asked.number, answer: button.id, milliseconds }));
  } catch (error) {
    enable(true);
    fail(error);
  }
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;

function drawn(name, score, chance) {
  const [low, high] = score.interval;
  const words = `${name}: ${score.right} of ${score.answers} right (${percent(score.share)}; 95 % interval ${percent(low)} to ${percent(high)})`;
  const make = (kind, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const picture = make("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": words });
  picture.append(
    make("rect", { class: "track", x: 0, y: 1, width: 100, height: 8 }),
    make("rect", { class: "interval", x: 100 * low, y: 3, width: 100 * (high - low), height: 4 }),
    make("rect", { class: "share", x: 100 * score.share - 0.5, y: 1, width: 1, height: 8 }),
    make("line", { class: "chance", x1: 100 * chance, x2: 100 * chance, y1: 0, y2: 10 }));
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = words;
  figure.append(caption, picture);
  return figure;
}

function tell({ score, answers }) {
  show(end);
  byId("result").textContent = `You were right ${score.right} times of ${score.answers}`;
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = `The dashed line is chance, ${percent(score.chance)}: what guessing gives. The wide bar is Wilson's 95 % interval.`;
  byId("scores").replaceChildren(note, drawn("All kernels", score, score.chance),
    ...score.sources.map((one) => drawn(`${one.source} (${one.kind})`, one, score.chance)));
  byId("answers").replaceChildren(...answers.map((one) => {
    const item = document.createElement("li");
    item.textContent = `${one.right ? "right" : "wrong"}: you said ${one.answer}, it was ${one.kind}`;
    return item;
  }));
  byId("result").focus();
}

byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim() || token;
  post("/players", {}).then(come, fail);
});
byId("again").addEventListener("click", () => {
  sessionStorage.removeItem("player");
  show(start);
  byId("begin").querySelector("button").focus();
});
for (const button of Object.values(choices)) button.addEventListener("click", () => answer(button));
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const button = choices[event.key.toLowerCase()];
  if (button && asked) answer(button);
});
// A page that is loaded anew goes on where its player was.
const player = sessionStorage.getItem("player");
if (player) post("/next", { player }).then(come, fail);
