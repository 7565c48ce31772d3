// Uses the page as a person does, and leaves what it sees in attributes of the body.
const see = (name, value) => { document.body.dataset[name] = String(value); };
const plane = document.getElementById("plane");
const box = plane.getBoundingClientRect();
const point = (kind, x, y, more) => plane.dispatchEvent(new PointerEvent(kind,
  { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, ...more }));
let over = 0;
for (let x = 0; x < box.width; x += 8) {
  for (let y = 0; y < box.height; y += 8) {
    point("pointermove", x, y);
    if (plane.dataset.over.startsWith("B, ")) { over += 1; see("x", x); see("y", y); }
  }
}
see("over", over);
const [x, y] = [Number(document.body.dataset.x), Number(document.body.dataset.y)];
point("pointerdown", x, y);
point("pointerup", x, y);
see("pinned", document.querySelector("#pinned pre").textContent);
plane.dispatchEvent(new WheelEvent("wheel",
  { deltaY: -400, clientX: box.left + x, clientY: box.top + y, cancelable: true }));
see("zoomed", plane.dataset.scale);
document.querySelectorAll("#clouds input").forEach((box) => box.click());
point("pointermove", x, y);
see("empty", plane.dataset.over === "");
document.querySelectorAll("#clouds input").forEach((box) => box.click());
const search = document.getElementById("search");
search.value = "0.5f";
search.dispatchEvent(new Event("input"));
see("left", document.getElementById("shown").dataset.found);
document.querySelector("#rows tr").click();
see("read", document.querySelector("#reader pre").textContent);
const button = document.querySelector("#reader .copy");
button.click();
setTimeout(() => { see("copy", button.textContent); see("selection", getSelection()); }, 500);
