// What is wrong with the page, as lines of text. Names of controls are asked of the browser itself.
const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
const shown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
const name = (one) => {
  const id = one.id ? `#${one.id}` : "";
  const kind = one.getAttribute("class") ? `.${one.getAttribute("class").replaceAll(" ", ".")}` : "";
  return `${one.localName}${id}${kind} "${(one.textContent ?? "").trim().slice(0, 40)}"`;
};
// Red, green, blue and opacity of a color as styles are computed.
function parts(color) {
  const found = color.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/);
  if (!found) throw new Error(`a color that is not understood: ${color}`);
  return [Number(found[1]), Number(found[2]), Number(found[3]), Number(found[4] ?? 1)];
}
const over = (upper, lower) => [0, 1, 2].map((i) => upper[i] * upper[3] + lower[i] * (1 - upper[3])).concat(1);
// WCAG 2.2, relative luminance and contrast ratio.
function luminance(color) {
  const [r, g, b] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(first, second) {
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
function behind(element) {
  const layers = [];
  for (let one = element; one; one = one.parentElement) layers.push(parts(getComputedStyle(one).backgroundColor));
  const probe = document.createElement("i");
  probe.style.backgroundColor = "Canvas";
  document.body.append(probe);
  const canvas = parts(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return layers.reverse().reduce((lower, upper) => over(upper, lower), canvas);
}
function seen(element, color) {
  let opacity = 1;
  for (let one = element; one; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
  const [r, g, b, alpha] = parts(color);
  const below = behind(element);
  return contrast(over([r, g, b, alpha * opacity], below), below);
}
function audit() {
  const faults = [];
  const check = (good, fault) => { if (!good) faults.push(fault); };
  for (const one of document.querySelectorAll("details")) one.open = true;
  check(document.documentElement.lang, "no language");
  check(document.title.trim(), "no title");
  const viewport = document.querySelector("meta[name=viewport]")?.content ?? "";
  check(viewport.includes("width=device-width"), "no viewport");
  check(!/user-scalable=no|maximum-scale/.test(viewport), "it cannot be enlarged");
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown);
  let level = 0;
  for (const one of headings) {
    const own = Number(one.localName[1]);
    check(own <= level + 1, `a heading too deep: ${name(one)}`);
    check(one.textContent.trim(), `a heading without words: ${one.outerHTML}`);
    level = own;
  }
  check(headings.filter((one) => one.localName === "h1").length === 1, "not one heading h1");
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  check(new Set(ids).size === ids.length, "an id comes twice");
  for (const one of document.querySelectorAll("[aria-selected]")) {
    check(/^(option|tab|row|gridcell|treeitem|columnheader|rowheader)$/.test(one.role ?? ""), `aria-selected of ${name(one)}`);
  }
  const { scrollWidth, clientWidth } = document.documentElement;
  const scrolls = (value) => value === "auto" || value === "scroll";
  const inside = (one) => one && (scrolls(getComputedStyle(one).overflowX) || inside(one.parentElement));
  const wide = [...document.querySelectorAll("body *")].filter((one) =>
    shown(one) && one.getBoundingClientRect().left + one.scrollWidth > clientWidth && !inside(one));
  check(scrollWidth <= clientWidth, `${scrollWidth} px wide: ${wide.map(name).slice(-3).join(", ")}`);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !shown(element) || element.closest("script, style, noscript, title")) continue;
    const style = getComputedStyle(element);
    const ratio = seen(element, element instanceof SVGElement ? style.fill : style.color);
    const kind = `${element.localName}.${element.getAttribute("class") ?? ""}`;
    if (ratio < 4.5 && !told.has(kind)) {
      told.add(kind);
      faults.push(`contrast ${ratio.toFixed(2)}: ${name(element)} in ${name(element.parentElement)}`);
    }
  }
  for (const one of document.querySelectorAll("[placeholder]")) {
    const ratio = seen(one, getComputedStyle(one, "::placeholder").color);
    check(ratio >= 4.5, `contrast ${ratio.toFixed(2)} of what an empty ${name(one)} says`);
  }
  for (const one of [...document.querySelectorAll("body *")].filter(shown)) {
    const style = getComputedStyle(one);
    const hides = scrolls(style.overflowX) && one.scrollWidth > one.clientWidth + 1
      || scrolls(style.overflowY) && one.scrollHeight > one.clientHeight + 1;
    const reached = one.hasAttribute("tabindex") || [...one.querySelectorAll(CONTROLS)].some((own) => own.tabIndex >= 0);
    check(!hides || reached || one.localName === "textarea", `a keyboard cannot scroll ${name(one)}`);
    const is_clicked = style.cursor === "pointer" && !one.closest(`${CONTROLS}, label`) && one.localName !== "br"
      && !(one.closest("tr") ?? one).querySelector(CONTROLS);
    check(!is_clicked, `a keyboard cannot press ${name(one)}`);
  }
  return faults;
}
const stops = () => [...document.querySelectorAll(CONTROLS)].filter((one) => one.tabIndex >= 0 && !one.disabled && shown(one));
// How many places Tab should come to.
function mark() {
  // Tab begins behind what had the focus last.
  const first = document.createElement("i");
  first.tabIndex = -1;
  document.body.prepend(first);
  first.focus();
  first.remove();
  scrollTo(0, 0);
  return stops().length;
}
// Where Tab has come to; what is wrong there.
function stop() {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  one.dataset.reached = "yes";
  const style = getComputedStyle(one);
  const is_seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  if (!is_seen) return `focus is not seen: ${name(one)}`;
  const box = one.getBoundingClientRect();
  const inside = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  return inside ? null : `focus is out of sight: ${name(one)}`;
}
const left = () => stops().filter((one) => !one.dataset.reached).map((one) => `Tab does not come to ${name(one)}`);
