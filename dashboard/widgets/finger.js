// Follows the finger on the slider of ε, or on the curve itself: shows the sentences, dots and the point of every step
// at once. It only reads Streamlit's own elements and lays its own over them; nothing of the page is changed. The server's own
// words take over when it has answered. Readers of the screen hear the slider itself, so all of this is hidden to them.

const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, parent) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  parent.appendChild(found);
  return found;
}

function place(layer, target) {
  // An opaque sheet of the page's own colour exactly over `target`; null where that is not on the page.
  const box = target && target.getBoundingClientRect();
  if (!box || !box.width || !box.height) return null;
  const sheet = document.createElement("div");
  Object.assign(sheet.style, {
    position: "fixed", left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`,
    minHeight: `${box.height}px`, boxSizing: "border-box", background: layer.dataset.paper, color: layer.dataset.ink, zIndex: 1,
  });
  layer.appendChild(sheet);
  return sheet;
}

function words(layer, target, pieces) {
  const sheet = place(layer, target);
  if (!sheet) return;
  const style = getComputedStyle(target);
  for (const name of ["fontFamily", "fontSize", "fontWeight", "lineHeight", "letterSpacing", "padding", "color"]) {
    sheet.style[name] = style[name];
  }
  let shade = 1; // small print is paler by its parents, not by its colour
  for (let parent = target; parent; parent = parent.parentElement) shade *= getComputedStyle(parent).opacity;
  pieces.forEach((part, index) => {
    const piece = document.createElement("span");
    piece.style.opacity = shade;
    if (index % 2 && target.tagName === "P") piece.style.fontWeight = 600;
    piece.textContent = part;
    sheet.appendChild(piece);
  });
}

function veil(layer, target) {
  // What only the server can say anew: faded, so that nobody reads it as said of the step under the finger.
  const sheet = place(layer, target);
  if (sheet) sheet.style.opacity = 0.75;
}

function grid(layer, target, most, look) {
  const sheet = place(layer, target);
  if (!sheet) return;
  const svg = make("svg", { viewBox: "-0.7 -0.7 25.4 4.4", width: "100%", height: sheet.style.minHeight }, sheet);
  svg.setAttribute("preserveAspectRatio", "none");
  for (let i = 0; i < 100; i += 1) {
    const fill = i < 50 ? look.soft : i < most ? look.risk : look.paper;
    make("ellipse", {
      cx: i % 25, cy: Math.floor(i / 25), rx: 0.42, ry: 0.36, fill, stroke: look.soft, "stroke-width": 0.07,
    }, svg);
  }
}

function strips(layer, target, rows) {
  const sheet = place(layer, target);
  if (!sheet) return;
  sheet.style.fontSize = "13px";
  for (const [name, count, ink] of rows) {
    const title = document.createElement("div");
    title.textContent = `${name}  ${count}`;
    const dots = document.createElement("div");
    dots.textContent = "●".repeat(count);
    Object.assign(dots.style, { color: ink, letterSpacing: "0.5em", overflowWrap: "anywhere", lineHeight: 1.3 });
    sheet.append(title, dots);
  }
}

function bars(layer, target, rows) {
  const sheet = place(layer, target);
  if (!sheet || !rows.length) return;
  const longest = Math.max(...rows.map((row) => row[2]));
  const full = rows[0][1].startsWith("±") ? longest * 1.5 : 1.15;
  Object.assign(sheet.style, { fontSize: "13px", display: "grid", alignContent: "space-around" });
  for (const [name, said, share, ink] of rows) {
    const row = document.createElement("div");
    Object.assign(row.style, { display: "grid", gridTemplateColumns: "122px 1fr", alignItems: "center", columnGap: "4px" });
    const title = document.createElement("span");
    title.textContent = name;
    title.style.textAlign = "right";
    const bar = document.createElement("span");
    const block = document.createElement("span");
    Object.assign(block.style, {
      display: "inline-block", height: "19px", width: `calc((100% - 10px) * ${share / full})`, background: ink,
      verticalAlign: "middle",
    });
    bar.style.whiteSpace = "nowrap";
    bar.append(block, ` ${said}`);
    row.append(title, bar);
    sheet.append(row);
  }
}

function point(layer, target, level, value, ink) {
  const chart = target && target.querySelector(".js-plotly-plot");
  const found = chart && chart._fullLayout;
  if (!found || !found.xaxis || value === null) return;
  const box = chart.getBoundingClientRect();
  const x = box.left + found.xaxis._offset + found.xaxis.d2p(level);
  const y = box.top + found.yaxis._offset + found.yaxis.d2p(value);
  const svg = make("svg", { width: "100%", height: "100%" }, layer);
  Object.assign(svg.style, { position: "fixed", left: 0, top: 0, pointerEvents: "none" });
  const top = box.top + found.yaxis._offset;
  make("line", { x1: x, x2: x, y1: top, y2: top + found.yaxis._length, stroke: ink, "stroke-width": 1.5 }, svg);
  make("circle", { cx: x, cy: y, r: 8, fill: ink, "data-finger": "point" }, svg);
}

const CURRENT = Symbol.for("epsilon-lab-finger");
const STEPS = Symbol.for("epsilon-lab-steps"); // as in finger.py
const DRAG = Symbol.for("epsilon-lab-drag"); // a finger that is down stays so where the server answers meanwhile
const SLIDERS = "[class*=st-key-epsilon-slider] input[type=range], [class*=st-key-epsilon-at-the-edge] input[type=range]";

export default function (component) {
  const { data, setTriggerValue } = component;
  // The steps came by a message of their own, which stays the same while ε moves; until they are there nothing follows.
  const known = () => (window[STEPS] && window[STEPS].name === data.steps ? window[STEPS].levels : []);
  if (window[CURRENT]) window[CURRENT](); // what watched for the server's former answer
  // What is drawn anew stays for a moment, unseen, beside what takes its place.
  const thumbs = () => [...document.querySelectorAll(SLIDERS)].filter((thumb) => thumb.getClientRects().length);
  const within = (key) => document.querySelector(`.st-key-${CSS.escape(key)}`);
  const chart = () => data.chart && within(data.chart) && within(data.chart).querySelector(".js-plotly-plot");
  let layer = null;
  const drag = window[DRAG] || (window[DRAG] = { down: false });
  if (!drag.down) drag.held = -1; // the step under a finger on the curve

  function clear() {
    if (layer) layer.remove();
    layer = null;
  }

  function paint() {
    const moved = thumbs()
      .map((thumb) => known().findIndex((level) => level.said === thumb.getAttribute("aria-valuetext")))
      .find((step) => step >= 0 && step !== data.at);
    const at = drag.held >= 0 ? drag.held : moved === undefined ? -1 : moved;
    clear();
    const step = known()[at];
    if (!step || at === data.at) return;
    const page = getComputedStyle(document.querySelector("[data-testid=stApp]"));
    layer = document.createElement("div");
    layer.setAttribute("aria-hidden", "true");
    layer.dataset.finger = step.said;
    layer.dataset.paper = page.backgroundColor;
    layer.dataset.ink = page.color;
    Object.assign(layer.style, { position: "fixed", zIndex: 5, pointerEvents: "none" });
    document.body.appendChild(layer);
    const head = within(`${data.page}-headline`);
    words(layer, head && head.querySelector("h3"), step.headline);
    for (const [key, text] of step.words) {
      const told = within(`${data.page}-${key}`);
      words(layer, told && told.querySelector("p"), text);
    }
    for (const key of data.stale) veil(layer, within(key));
    const dotted = within(`${data.page}-odds`);
    grid(layer, dotted && dotted.querySelector(".js-plotly-plot"), step.most, data.look);
    const seen = within(`${data.page}-dots`);
    if (step.rows.length) strips(layer, seen && seen.querySelector(".js-plotly-plot"), step.rows);
    const unsure = within(`${data.page}-uncertain`);
    bars(layer, unsure && unsure.querySelector(".js-plotly-plot"), step.bars);
    if (data.chart) point(layer, within(data.chart), step.level, step.value, data.look.accent);
  }

  let asked = 0;
  const soon = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(paint);
  };

  // The curve: where the finger goes down on it, the nearest step of the scale goes with it, until it is let go.
  function nearest(event) {
    const found = chart();
    const axis = found && found._fullLayout && found._fullLayout.xaxis;
    if (!axis) return -1;
    const level = axis.p2d(event.clientX - found.getBoundingClientRect().left - axis._offset);
    const away = known().map((step) => Math.abs(Math.log(step.level / level)));
    return away.indexOf(Math.min(...away));
  }

  function onDown(event) {
    const found = chart();
    if (event.button !== 0 || !found || !found.contains(event.target)) return;
    if (!event.target.classList.contains("nsewdrag")) return; // the plot itself, none of its buttons
    drag.down = true;
    onMove(event);
  }

  function onMove(event) {
    if (!drag.down) return;
    if (!event.buttons) return onCancel(); // it was let go where nobody followed
    drag.held = nearest(event);
    soon();
  }

  function onUp() {
    if (!drag.down) return;
    drag.down = false;
    if (known()[drag.held] && drag.held !== data.at) setTriggerValue("epsilon", known()[drag.held].level);
    else drag.held = -1;
    soon();
  }

  function onCancel() {
    drag.down = false; // the browser took the finger to scroll the page
    drag.held = -1;
    soon();
  }

  const look = document.createElement("style");
  if (data.chart) {
    look.textContent = `.st-key-${CSS.escape(data.chart)} .nsewdrag { cursor: ew-resize !important; touch-action: pan-y !important; }`;
    document.head.appendChild(look);
  }
  const watched = new MutationObserver(soon);
  // Of all of the page: a slider that another one moved is drawn anew, at any time after this.
  watched.observe(document.body, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext", "aria-valuenow"] });
  const heard = [
    ["scroll", soon], ["resize", soon],
    ["pointerdown", onDown], ["pointermove", onMove], ["pointerup", onUp], ["pointercancel", onCancel],
  ];
  heard.forEach(([name, heed]) => window.addEventListener(name, heed, true));
  soon();
  const end = () => {
    cancelAnimationFrame(asked);
    watched.disconnect();
    heard.forEach(([name, heed]) => window.removeEventListener(name, heed, true));
    look.remove();
    clear();
    if (window[CURRENT] === end) delete window[CURRENT];
  };
  window[CURRENT] = end;
  return end;
}
