// ---- features of programs ------------------------------------------------------------------

// Values of a point as the page has them: nothing for 0, and none behind the last that is not.
function unpacked(map, text) {
  if (!text) return null;
  const values = text.split(",").map(Number);
  return map.dimensions.map((_, i) => values[i] ?? 0);
}

const features = (() => {
  const ASKED = /^([a-z_][\w.:/-]*?)(<=|>=|!=|<|>|=)(-?\d+(?:\.\d+)?)$/i;
  const HOLDS = {
    "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
    "=": (a, b) => a === b, "!=": (a, b) => a !== b,
  };
  // By the name in small letters, with its space before it and without: places of maps and of values in them.
  const names = new Map();
  data.maps.forEach((map, m) => map.dimensions.forEach((name, d) => {
    for (const key of [name, `${map.space}.${name}`]) {
      const places = names.get(key.toLowerCase()) ?? [];
      names.set(key.toLowerCase(), [...places, [m, d]]);
    }
  }));
  let vectors = null;

  // By map, then by program.
  function all() {
    vectors ??= data.maps.map((map) => {
      const found = new Map();
      for (const set of map.sets) {
        set.program.forEach((program, i) => {
          // What was asked for is no program's own vector.
          if (program < 0 || found.has(program) || set.value.length) return;
          const values = unpacked(map, set.vector[i]);
          if (values) found.set(program, values);
        });
      }
      return found;
    });
    return vectors;
  }

  return {
    // Whether a program has what a word asks for; null where the word asks for no feature.
    asked(word) {
      const [, name, sign, number] = ASKED.exec(word) ?? [];
      if (!name) return null;
      const holds = (value) => HOLDS[sign](value, Number(number));
      if (name.toLowerCase() === "lines") {
        return (place) => holds(data.programs[place].text.trimEnd().split("\n").length);
      }
      const places = names.get(name.toLowerCase());
      if (!places) return null;
      return (place) => {
        const [m, d] = places.find(([m]) => all()[m].has(place)) ?? [];
        return m !== undefined && holds(all()[m].get(place)[d]);
      };
    },
    looks: (word) => ASKED.test(word),
    // How many programs can be asked for their features.
    known() { return new Set(all().flatMap((found) => [...found.keys()])).size; },
  };
})();

// ---- the browser ---------------------------------------------------------------------------

const browser = byId("programs") && (() => {
  const PAGE = 100;
  const [search, rows, shown, more, whole, dimensions] =
    ["search", "rows", "shown", "more", "all", "dimensions"].map(byId);
  const reader = byId("reader");
  const hay = data.programs.map((program) =>
    [program.name, program.set, program.origin, program.path, program.text].join("\n").toLowerCase());
  let found = [];
  let drawn = 0;
  // Those chosen on the map; null for all.
  let chosen = null;

  function draw() {
    for (const place of found.slice(drawn, drawn + PAGE)) {
      const program = data.programs[place];
      // Who clicks the name clicks the row; a keyboard presses it.
      const name = element("button", { type: "button", textContent: program.name || "(no name)" });
      const row = element("tr", {}, element("td", {}, name),
        element("td", { textContent: program.origin || program.set }),
        element("td", { className: "path", textContent: program.path, title: program.path }),
        element("td", { className: "number", textContent: program.text.trimEnd().split("\n").length }));
      row.dataset.program = place;
      row.addEventListener("click", () => select(place));
      rows.append(row);
    }
    drawn = Math.min(found.length, drawn + PAGE);
    more.hidden = drawn === found.length;
  }

  function filter() {
    const words = search.value.split(/\s+/).filter(Boolean);
    const tests = words.map((word) => features.asked(word)
      ?? ((place) => hay[place].includes(word.toLowerCase())));
    const places = chosen ?? [...hay.keys()];
    found = places.filter((place) => tests.every((test) => test(place)));
    drawn = 0;
    rows.replaceChildren();
    draw();
    const asked = words.filter((word) => features.asked(word));
    const unknown = words.filter((word) => features.looks(word) && !features.asked(word));
    const said = [`${found.length} of ${data.programs.length} programs`];
    if (chosen) said.push(`of the ${chosen.length} chosen on the map`);
    if (asked.length) said.push(`${features.known()} have vectors on this page`);
    if (unknown.length) said.push(`no feature of that name: ${unknown.join(", ")} is looked for as a word`);
    shown.textContent = said.join("; ");
    shown.dataset.found = found.length;
    whole.hidden = !chosen;
  }

  function select(place) {
    for (const row of rows.children) {
      row.classList.toggle("selected", Number(row.dataset.program) === place);
    }
    read(reader, place);
  }

  for (const map of data.maps) {
    dimensions.append(element("dt", { textContent: map.space }),
      element("dd", { textContent: map.dimensions.join(", ") }));
  }
  dimensions.parentElement.hidden = !data.maps.length;
  search.addEventListener("input", filter);
  more.addEventListener("click", draw);
  whole.addEventListener("click", () => { chosen = null; filter(); search.focus(); });
  filter();
  select(0);
  return {
    select,
    search(text) { search.value = text; chosen = null; filter(); },
    only(places) {
      chosen = places;
      search.value = "";
      filter();
      if (found.length) select(found[0]);
      byId("programs").scrollIntoView();
      search.focus({ preventScroll: true });
    },
  };
})();

