// What all of the page's script shares. Everything that comes from programs is set as text.
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
  const name = button.textContent;
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
  setTimeout(() => { button.textContent = name; }, 2500);
}

function pressed(name, act) {
  const button = element("button", { type: "button", textContent: name });
  button.addEventListener("click", () => act(button));
  return button;
}

const panel = (code, label) => element("pre", { tabIndex: 0, role: "region", ariaLabel: label }, code);

// ---- before and after normalisation --------------------------------------------------------

const TOKENS = /[A-Za-z_]\w*|\d[\w.]*|"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*[^]*?\*\/|\s+|[^]/g;
// More pairs of tokens would keep the reader waiting.
const PAIRS = 4e6;

// The tokens of two texts, each with whether a longest common subsequence of both leaves it out.
function compared(before, after) {
  const texts = [before, after].map((text) =>
    (text.match(TOKENS) ?? []).map((token) => ({ token, blank: !token.trim(), changed: false })));
  const [one, other] = texts.map((tokens) => tokens.filter((token) => !token.blank));
  const width = other.length + 1;
  if (one.length * other.length > PAIRS) return texts;
  const length = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      length[i * width + j] = one[i].token === other[j].token
        ? length[(i + 1) * width + j + 1] + 1
        : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i].token === other[j].token) {
      i += 1;
      j += 1;
    } else if (j === other.length || i < one.length && length[(i + 1) * width + j] >= length[i * width + j + 1]) {
      one[i].changed = true;
      i += 1;
    } else {
      other[j].changed = true;
      j += 1;
    }
  }
  return texts;
}

// Tokens as text, those that changed in elements of this name; what stands between two of them belongs to them.
function marked(tokens, name) {
  const code = element("code");
  let run = "";
  let blanks = "";
  const close = () => {
    if (run) code.append(element(name, { textContent: run }));
    code.append(blanks);
    [run, blanks] = ["", ""];
  };
  for (const { token, blank, changed } of tokens) {
    if (blank) {
      if (token.includes("\n")) close();
      blanks += token;
    } else if (changed) {
      if (!run) { code.append(blanks); blanks = ""; }
      run += blanks + token;
      blanks = "";
    } else {
      close();
      code.append(token);
    }
  }
  close();
  return code;
}

function difference(program) {
  const [before, after] = compared(program.before, program.text);
  return element("div", { className: "both" },
    element("div", {}, element("p", { className: "note", textContent: "as found" }),
      panel(marked(before, "del"), "the kernel as it was found")),
    element("div", {}, element("p", { className: "note", textContent: "normalised" }),
      panel(marked(after, "ins"), "the kernel as prepare wrote it")));
}

// Whether kernels are shown beside what they were before; all readers keep to it.
let both = false;

function read(reader, place, heading) {
  const program = data.programs[place];
  reader.replaceChildren();
  if (!program) {
    reader.append(element("p", { className: "note", textContent: heading ?? "" }));
    return;
  }
  const code = coloured(program.text);
  const tools = element("span", { className: "tools" });
  if (program.before) {
    const button = pressed("before and after", () => {
      both = !both;
      read(reader, place, heading);
      reader.querySelector(".compare").focus();
    });
    button.className = "compare";
    button.setAttribute("aria-pressed", both);
    tools.append(button);
  }
  const copier = pressed("copy", (button) => copy(program.text, code, button));
  copier.className = "copy";
  tools.append(copier);
  const from = [program.set, program.origin, program.path, program.license].filter(Boolean);
  reader.dataset.program = place;
  reader.append(
    element("div", { className: "title" },
      element("a", { href: `#program=${place}`, textContent: program.name || "(no name)" }), tools),
    element("p", { className: "note", textContent: heading ?? from.join(" · ") }),
    both && program.before ? difference(program) : panel(code, "text of the program"));
}

