"use strict";
// The browser of programs and the feature maps. Everything that comes from programs is set as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    Object.assign(made, properties);
    made.append(...children);
    return made;
  }

  // ---- texts of programs -------------------------------------------------------------------

  const WORDS = new RegExp([
    "(?<comment>//[^\\n]*|/\\*[^]*?\\*/)",
    "(?<string>\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*')",
    "(?<directive>^[ \\t]*#[^\\n]*)",
    "(?<keyword>\\b(?:__)?(?:kernel|global|local|constant|private|read_only|write_only)\\b" +
      "|\\b(?:if|else|for|while|do|return|break|continue|switch|case|default|const|restrict" +
      "|volatile|static|inline|struct|union|enum|typedef|sizeof|goto)\\b)",
    "(?<type>\\b(?:void|bool|size_t|ptrdiff_t|(?:unsigned|signed)\\b|image\\dd_t|sampler_t|event_t" +
      "|u?(?:char|short|int|long)(?:2|3|4|8|16)?|(?:float|double|half)(?:2|3|4|8|16)?)\\b)",
    "(?<number>\\b(?:0[xX][0-9a-fA-F]+|\\d+\\.?\\d*(?:[eE][-+]?\\d+)?|\\.\\d+)[fFuUlLhH]*\\b)",
  ].join("|"), "gm");

  function coloured(text) {
    const code = element("code");
    let end = 0;
    for (const match of text.matchAll(WORDS)) {
      code.append(text.slice(end, match.index));
      const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
      code.append(element("span", { className: kind, textContent: match[0] }));
      end = match.index + match[0].length;
    }
    code.append(text.slice(end));
    return code;
  }

  async function copy(text, code, button) {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = document.execCommand("copy") ? "copied" : "selected: press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "copy"; }, 2500);
  }

  function read(reader, place, heading) {
    const program = data.programs[place];
    reader.replaceChildren();
    if (!program) {
      reader.append(element("p", { className: "note", textContent: heading ?? "" }));
      return;
    }
    const code = coloured(program.text);
    const button = element("button", { type: "button", className: "copy", textContent: "copy" });
    button.addEventListener("click", () => copy(program.text, code, button));
    const from = [program.set, program.origin, program.path, program.license].filter(Boolean);
    reader.dataset.program = place;
    reader.append(
      element("div", { className: "title" },
        element("a", { href: `#program=${place}`, textContent: program.name || "(no name)" }),
        button),
      element("p", { className: "note", textContent: heading ?? from.join(" · ") }),
      element("pre", { tabIndex: 0, role: "region", ariaLabel: "text of the program" }, code));
  }

  // ---- the browser -------------------------------------------------------------------------

  const browser = byId("programs") && (() => {
    const PAGE = 100;
    const [search, rows, shown, more] = ["search", "rows", "shown", "more"].map(byId);
    const reader = byId("reader");
    const hay = data.programs.map((program) =>
      [program.name, program.set, program.origin, program.path, program.text].join("\n").toLowerCase());
    let found = [];
    let drawn = 0;

    function draw() {
      for (const place of found.slice(drawn, drawn + PAGE)) {
        const program = data.programs[place];
        // Who clicks the name clicks the row; a keyboard presses it.
        const name = element("button", { type: "button", textContent: program.name || "(no name)" });
        const row = element("tr", {}, element("td", {}, name),
          element("td", { textContent: program.origin || program.set }),
          element("td", { textContent: program.path, title: program.path }),
          element("td", { className: "number", textContent: program.text.trimEnd().split("\n").length }));
        row.dataset.program = place;
        row.addEventListener("click", () => select(place));
        rows.append(row);
      }
      drawn = Math.min(found.length, drawn + PAGE);
      more.hidden = drawn === found.length;
      shown.textContent = `${found.length} of ${data.programs.length} programs`;
      shown.dataset.found = found.length;
    }

    function filter() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      found = [...hay.keys()].filter((place) => words.every((word) => hay[place].includes(word)));
      drawn = 0;
      rows.replaceChildren();
      draw();
    }

    function select(place) {
      for (const row of rows.children) {
        row.classList.toggle("selected", Number(row.dataset.program) === place);
      }
      read(reader, place);
    }

    search.addEventListener("input", filter);
    more.addEventListener("click", draw);
    filter();
    select(0);
    return {
      select,
      search(text) { search.value = text; filter(); },
    };
  })();

  // ---- the maps ----------------------------------------------------------------------------

  const maps = byId("map") && (() => {
    const canvas = byId("plane");
    const context = canvas.getContext("2d");
    const [tip, clouds, axes, pinned] = ["tip", "clouds", "axes", "pinned"].map(byId);
    const buttons = [...document.querySelectorAll("#map [data-map]")];
    const NEAR = 14;
    // From little to much, for the entropy of votes.
    const HEAT = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
    let map = null;
    let hidden = new Set();
    let view = { x: 0, y: 0, scale: 1 };
    let over = null;

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
        if (program) {
          const lines = program.text.split("\n");
          const start = lines.slice(0, 14).join("\n") + (lines.length > 14 ? "\n…" : "");
          tip.append(element("pre", {}, coloured(start)));
        } else {
          tip.append(element("span", { className: "note", textContent: "its text is not on this page" }));
        }
        const [left, top] = at(set.x[i], set.y[i]);
        const { width, height } = size();
        tip.style.left = `${canvas.offsetLeft + Math.max(4, Math.min(left + 14, width - tip.offsetWidth - 8))}px`;
        const below = top + 14 + tip.offsetHeight < height ? top + 14 : top - tip.offsetHeight - 14;
        tip.style.top = `${canvas.offsetTop + Math.max(4, below)}px`;
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

    function show(index) {
      map = data.maps[index];
      hidden = new Set();
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
      drag = { x: event.clientX, y: event.clientY, moved: false };
      try { canvas.setPointerCapture(event.pointerId); } catch { /* made by a script */ }
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
        if (drag.moved || Math.hypot(x, y) > 3) {
          view.x -= x / view.scale;
          view.y += y / view.scale;
          drag = { x: event.clientX, y: event.clientY, moved: true };
          hover(null);
        }
      } else {
        hover(nearest(...inside(event)));
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) {
        const found = nearest(...inside(event));
        hover(found);
        pin(found);
      }
      drag = null;
    });
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
      else return;
      event.preventDefault();
      hover(null);
    });
    buttons.forEach((button, i) => button.addEventListener("click", () => show(i)));
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

  // ---- what the address asks for -----------------------------------------------------------

  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (browser && asked.has("search")) browser.search(asked.get("search"));
    if (browser && asked.has("program")) {
      browser.select(Number(asked.get("program")));
      byId("programs").scrollIntoView();
    }
    if (maps && asked.has("point")) {
      maps.point(Number(asked.get("point")));
      byId("map").scrollIntoView();
    }
  }
  addEventListener("hashchange", follow);
  follow();
  document.documentElement.dataset.ready = "yes";
})();
