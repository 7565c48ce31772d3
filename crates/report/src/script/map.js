// ---- the maps ----------------------------------------------------------------------------

const maps = byId("map") && (() => {
  const canvas = byId("plane");
  const context = canvas.getContext("2d");
  const [tip, clouds, axes, pinned, chosen, panelOf] =
    ["tip", "clouds", "axes", "pinned", "chosen", "selection"].map(byId);
  const tools = [...document.querySelectorAll("#map [data-tool]")];
  const buttons = [...document.querySelectorAll("#map [data-map]")];
  const NEAR = 14;
  // From little to much, for the entropy of votes.
  const HEAT = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  let map = null;
  let hidden = new Set();
  let view = { x: 0, y: 0, scale: 1 };
  let over = null;
  let tool = "move";
  // Points of the map that are selected; the outline of a selection that is being drawn, on the screen.
  let selected = [];
  let outline = null;
  // How much of the view the keyboard's box takes; null where there is none.
  let share = null;

  const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function whole() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const set of map.sets) {
      for (const x of set.x) { left = Math.min(left, x); right = Math.max(right, x); }
      for (const y of set.y) { low = Math.min(low, y); high = Math.max(high, y); }
    }
    const { width, height } = size();
    const scale = Math.min(width / (right - left || 1), height / (high - low || 1)) * 0.9;
    view = { x: (left + right) / 2, y: (low + high) / 2, scale };
  }

  function at(x, y) {
    const { width, height } = size();
    return [(x - view.x) * view.scale + width / 2, height / 2 - (y - view.y) * view.scale];
  }

  function heat(share) {
    const place = Math.min(Math.max(share, 0), 1) * (HEAT.length - 1);
    const from = Math.min(Math.floor(place), HEAT.length - 2);
    const mixed = HEAT[from].map((part, i) => part + (HEAT[from + 1][i] - part) * (place - from));
    return `rgb(${mixed.map(Math.round).join(",")})`;
  }

  function draw() {
    const { width, height } = size();
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.strokeStyle = colour("--line");
    context.lineWidth = 1;
    const [zeroX, zeroY] = at(0, 0);
    context.beginPath();
    context.moveTo(zeroX, 0); context.lineTo(zeroX, height);
    context.moveTo(0, zeroY); context.lineTo(width, zeroY);
    context.stroke();
    const radius = Math.min(6, 2.6 + 0.4 * Math.log2(Math.max(1, view.scale / 20)));
    const most = Math.max(...map.sets.flatMap((set) => set.value), 1e-9);
    map.sets.forEach((set, index) => {
      if (hidden.has(index)) return;
      const asked = set.value.length > 0;
      context.globalAlpha = asked ? 0.95 : 0.6;
      context.fillStyle = colour(`--c${index % 7}`);
      set.x.forEach((x, i) => {
        const [left, top] = at(x, set.y[i]);
        if (left < -9 || top < -9 || left > width + 9 || top > height + 9) return;
        context.beginPath();
        if (asked) {
          context.fillStyle = heat(set.value[i] / most);
          const r = radius + 2;
          context.moveTo(left, top - r); context.lineTo(left + r, top);
          context.lineTo(left, top + r); context.lineTo(left - r, top);
          context.closePath();
          context.fill();
          context.stroke();
        } else {
          context.arc(left, top, radius, 0, 2 * Math.PI);
          context.fill();
        }
      });
    });
    context.globalAlpha = 1;
    context.strokeStyle = colour("--ink");
    context.lineWidth = 1.5;
    for (const { set, i } of selected) {
      const [left, top] = at(set.x[i], set.y[i]);
      context.beginPath();
      context.arc(left, top, radius + 2, 0, 2 * Math.PI);
      context.stroke();
    }
    const shape = outline ?? (share ? middleBox() : null);
    if (shape) {
      context.setLineDash([6, 4]);
      context.beginPath();
      shape.forEach(([x, y], step) => (step ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.stroke();
      context.setLineDash([]);
    }
    if (over) {
      const [left, top] = at(over.set.x[over.i], over.set.y[over.i]);
      context.strokeStyle = colour("--ink");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(left, top, radius + 4, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  function nearest(left, top) {
    let best = null;
    let least = NEAR * NEAR;
    map.sets.forEach((set, index) => {
      if (hidden.has(index)) return;
      set.x.forEach((x, i) => {
        const [x2, y2] = at(x, set.y[i]);
        const distance = (x2 - left) ** 2 + (y2 - top) ** 2;
        if (distance < least) { least = distance; best = { set, i }; }
      });
    });
    return best;
  }

  function hover(found) {
    over = found;
    tip.hidden = !found;
    if (found) {
      const { set, i } = found;
      const program = data.programs[set.program[i]];
      tip.replaceChildren(
        element("b", { textContent: set.label[i] }),
        element("span", { className: "note", textContent: set.name }));
      const { width, height } = size();
      if (!program) {
        tip.append(element("span", { className: "note", textContent: "its text is not on this page" }));
      } else if (width > 520) {
        const lines = program.text.split("\n");
        const start = lines.slice(0, 10).join("\n") + (lines.length > 10 ? "\n…" : "");
        tip.append(element("pre", {}, coloured(start)));
      }
      // In the half of the map where the pointer is not: what is pointed at stays in sight.
      const [left, top] = at(set.x[i], set.y[i]);
      tip.style.left = `${canvas.offsetLeft + (left < width / 2 ? width - tip.offsetWidth - 6 : 6)}px`;
      tip.style.top = `${canvas.offsetTop + (top < height / 2 ? height - tip.offsetHeight - 6 : 6)}px`;
    }
    canvas.dataset.over = found ? found.set.label[found.i] : "";
    draw();
  }

  function pin(found) {
    if (found) read(pinned, found.set.program[found.i], `${found.set.name} · ${found.set.label[found.i]}`);
  }

  function zoom(factor, left, top) {
    const { width, height } = size();
    const [fromX, fromY] = [left - width / 2, height / 2 - top];
    const x = view.x + fromX / view.scale;
    const y = view.y + fromY / view.scale;
    const scale = Math.min(Math.max(view.scale * factor, 1), 1e6);
    view = { x: x - fromX / scale, y: y - fromY / scale, scale };
    canvas.dataset.scale = scale.toFixed(3);
    hover(null);
  }

  // ---- selection

  function middleBox() {
    const { width, height } = size();
    const [x, y] = [width * share / 2, height * share / 2];
    return box([width / 2 - x, height / 2 - y], [width / 2 + x, height / 2 + y]);
  }

  const box = ([x, y], [x2, y2]) => [[x, y], [x2, y], [x2, y2], [x, y2]];

  // Whether a ray from the point crosses the outline an odd number of times.
  function isInside(shape, x, y) {
    let inside = false;
    for (let i = 0, j = shape.length - 1; i < shape.length; j = i, i += 1) {
      const [[x1, y1], [x2, y2]] = [shape[i], shape[j]];
      if (y1 > y !== y2 > y && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1) inside = !inside;
    }
    return inside;
  }

  function selectIn(shape) {
    selected = [];
    map.sets.forEach((set, index) => {
      if (hidden.has(index)) return;
      set.x.forEach((x, i) => {
        if (isInside(shape, ...at(x, set.y[i]))) selected.push({ set, i });
      });
    });
    [outline, share] = [null, null];
    told();
    hover(null);
  }

  function unselect() {
    [selected, outline, share] = [[], null, null];
    told("");
    hover(null);
  }

  // One line for each point that is wanted: what `steer --targets` reads.
  function targets() {
    const lines = new Map();
    for (const { set, i } of selected) {
      const values = unpacked(map, set.vector[i]);
      if (!values || lines.has(set.vector[i])) continue;
      const line = { target: `selected-${lines.size + 1}`, [map.space]: values };
      if (set.opt !== undefined) line.opt = set.opt;
      lines.set(set.vector[i], JSON.stringify(line));
    }
    return [...lines.values()].map((line) => `${line}\n`).join("");
  }

  // A word as a shell takes it.
  function quoted(word) {
    if (/^[\w./=-]+$/.test(word)) return word;
    return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
  }


  // The least box around the selected points, of the counted values that any of them has.
  function ranges() {
    const values = selected.map(({ set, i }) => unpacked(map, set.vector[i])).filter(Boolean);
    const wanted = map.dimensions.map((name, d) => {
      const [low, high] = [Math.min(...values.map((v) => v[d])), Math.max(...values.map((v) => v[d]))];
      return /^\w+$/.test(name) && high > 0 ? `${name}=${low === high ? low : `${low}..${high}`}` : "";
    });
    return wanted.filter(Boolean).join(",");
  }

  // Rows that one command asks for at most: a command line has no room for more.
  const ROWS = 4000;

  function query(set) {
    const ids = selected.filter((point) => point.set.from === set.from).map((point) => point.set.id[point.i]);
    const some = [...new Set(ids)].slice(0, ROWS).map((id) => `'${id.replaceAll("'", "''")}'`);
    const sql = `SELECT * FROM d WHERE ${set.key} IN (${some.join(", ")})`;
    return `stampmill query ${quoted(sql)} ${quoted(`d=${set.from}`)}`;
  }

  function command(what, text) {
    const code = element("code", { textContent: text });
    const button = pressed("copy", () => copy(text, code, button));
    button.setAttribute("aria-label", `copy: ${what}`);
    return element("div", { className: "command" },
      element("p", { className: "note", textContent: what }), panel(code, what), button);
  }

  function save(text) {
    const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    element("a", { href: url, download: "selected.jsonl" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  function told(text) {
    const sets = [...new Set(selected.map((point) => point.set))];
    const counts = sets.map((set) => `${selected.filter((point) => point.set === set).length} of ${set.name}`);
    chosen.textContent = text
      ?? (selected.length ? `${selected.length} points selected: ${counts.join(", ")}` : "no point is in there");
    chosen.dataset.count = selected.length;
    panelOf.hidden = !selected.length;
    panelOf.replaceChildren();
    if (!selected.length) return;
    const lines = targets();
    const count = lines.split("\n").length - 1;
    const texts = [...new Set(selected.map(({ set, i }) => set.program[i]).filter((place) => place >= 0))];
    const tools = element("div", { className: "controls" });
    const code = element("code", { textContent: lines });
    if (count) {
      tools.append(pressed(`save ${count} as targets`, () => save(lines)),
        pressed("copy the targets", (button) => copy(lines, code, button)));
    }
    if (browser && texts.length) {
      tools.append(pressed(`show ${texts.length} programs`, () => browser.only(texts.sort((a, b) => a - b))));
    }
    tools.append(pressed("clear", () => { unselect(); canvas.focus(); }));
    panelOf.append(tools);
    if (count) {
      const file = "stampmill steer --space " + map.space + " --targets selected.jsonl --budget 60s --out found";
      panelOf.append(element("details", {}, element("summary", { textContent: `${count} targets, one of each vector` }),
        panel(code, "targets")), command("a kernel for each, with the saved file", file));
      const wanted = map.dimensions.length < 16 ? ranges() : "";
      if (wanted) {
        const one = `stampmill steer --space ${map.space} --target ${quoted(wanted)} --budget 60s --out found`;
        panelOf.append(command("one kernel in the box around them", one));
      }
    } else {
      panelOf.append(element("p", { className: "note", textContent: "their vectors are not on this page: ask for them" }));
    }
    for (const set of new Map(sets.map((set) => [set.from, set])).values()) {
      panelOf.append(command(`their rows in ${set.from}, in the folder of this report`, query(set)));
    }
  }

  function use(name) {
    tool = name;
    for (const button of tools) button.setAttribute("aria-pressed", button.dataset.tool === name);
  }

  function show(index) {
    map = data.maps[index];
    hidden = new Set();
    [selected, outline, share] = [[], null, null];
    told("");
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === index));
    const [first, second] = map.explained.map((share) => (100 * share).toFixed(1));
    axes.textContent = `${map.space}: the axes explain ${first} % and ${second} % of the variance` +
      (map.sets.some((set) => set.value.length)
        ? "; diamonds: points that were asked for, the brighter the further the votes were apart" : "");
    clouds.replaceChildren(...map.sets.map((set, i) => {
      const box = element("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        if (box.checked) hidden.delete(i); else hidden.add(i);
        hover(null);
      });
      const left = set.left_out ? `, ${set.left_out.toLocaleString("en")} not drawn` : "";
      return element("label", { className: "key" }, box,
        element("i", { className: set.value.length ? "heat" : `c${i % 7}` }),
        `${set.name} (${set.x.length.toLocaleString("en")}${left})`);
    }));
    canvas.dataset.points = map.sets.reduce((sum, set) => sum + set.x.length, 0);
    whole();
    hover(null);
  }

  let drag = null;
  const inside = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false, from: inside(event) };
    drag.tool = event.shiftKey ? "box" : tool;
    try { canvas.setPointerCapture(event.pointerId); } catch { /* made by a script */ }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) {
      hover(nearest(...inside(event)));
      return;
    }
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(x, y) <= 3) return;
    drag.moved = true;
    if (drag.tool === "box") {
      outline = box(drag.from, inside(event));
    } else if (drag.tool === "lasso") {
      outline = [...outline ?? [drag.from], inside(event)];
    } else {
      view.x -= x / view.scale;
      view.y += y / view.scale;
      [drag.x, drag.y] = [event.clientX, event.clientY];
    }
    hover(null);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      const found = nearest(...inside(event));
      hover(found);
      pin(found);
    } else if (outline) {
      selectIn(outline);
    }
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => { [drag, outline] = [null, null]; draw(); });
  canvas.addEventListener("pointerleave", () => { if (!drag) hover(null); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), ...inside(event));
  }, { passive: false });
  const middle = () => [size().width / 2, size().height / 2];
  byId("closer").addEventListener("click", () => zoom(1.6, ...middle()));
  byId("farther").addEventListener("click", () => zoom(1 / 1.6, ...middle()));
  byId("whole").addEventListener("click", () => { whole(); hover(null); });
  canvas.addEventListener("keydown", (event) => {
    const step = 40 / view.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (moves[event.key]) {
      view.x += moves[event.key][0];
      view.y += moves[event.key][1];
    } else if (event.key === "+") zoom(1.6, ...middle());
    else if (event.key === "-") zoom(1 / 1.6, ...middle());
    else if (event.key.toLowerCase() === "b") {
      share = 0.5;
      chosen.textContent = "a box in the middle: Enter selects what is in it";
    } else if (event.key === "[" && share) share = Math.max(share / 1.25, 0.02);
    else if (event.key === "]" && share) share = Math.min(share * 1.25, 1);
    else if (event.key === "Enter" && share) selectIn(middleBox());
    else if (event.key === "Enter") {
      const found = nearest(...middle());
      hover(found);
      pin(found);
      return;
    } else if (event.key === "Escape" && (share || selected.length)) unselect();
    else return;
    event.preventDefault();
    hover(null);
  });
  buttons.forEach((button, i) => button.addEventListener("click", () => show(i)));
  tools.forEach((button) => button.addEventListener("click", () => use(button.dataset.tool)));
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  show(Math.max(0, data.maps.findIndex((one) => one.space === "instcount")));
  return {
    point(number) {
      let rest = number;
      for (const set of map.sets) {
        if (rest < set.x.length) {
          const found = { set, i: rest };
          [view.x, view.y] = [set.x[rest], set.y[rest]];
          hover(found);
          pin(found);
          return;
        }
        rest -= set.x.length;
      }
    },
  };
})();

