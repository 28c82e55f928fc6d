// Follows the finger on the slider of ε: shows the sentences, dots and the point of every step at once.
// It only reads Streamlit's own elements and lays its own over them; nothing of the page is changed. The server's own
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

function words(layer, target, text) {
  const sheet = place(layer, target);
  if (!sheet) return;
  const style = getComputedStyle(target);
  for (const name of ["fontFamily", "fontSize", "fontWeight", "lineHeight", "letterSpacing", "padding", "color"]) {
    sheet.style[name] = style[name];
  }
  text.split("**").forEach((part, index) => {
    const piece = document.createElement("span");
    if (index % 2) piece.style.fontWeight = 700;
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

export default function (component) {
  const { data } = component;
  if (window[CURRENT]) window[CURRENT](); // what watched for the server's former answer
  const slider = () => document.querySelector(".st-key-_slider input[type=range]");
  const within = (key) => document.querySelector(`.st-key-${CSS.escape(key)}`);
  let layer = null;

  function clear() {
    if (layer) layer.remove();
    layer = null;
  }

  function paint() {
    const thumb = slider();
    const at = thumb ? data.levels.findIndex((level) => level.said === thumb.getAttribute("aria-valuetext")) : -1;
    clear();
    if (at < 0 || at === data.at) return;
    const step = data.levels[at];
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
    if (data.chart) point(layer, within(data.chart), step.level, step.value, data.look.accent);
  }

  let asked = 0;
  const soon = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(paint);
  };
  const watched = new MutationObserver(soon);
  const thumb = slider();
  if (thumb) watched.observe(thumb, { attributes: true, attributeFilter: ["aria-valuetext", "aria-valuenow"] });
  const away = ["scroll", "resize"];
  away.forEach((name) => window.addEventListener(name, soon, true));
  soon();
  const end = () => {
    cancelAnimationFrame(asked);
    watched.disconnect();
    away.forEach((name) => window.removeEventListener(name, soon, true));
    clear();
    if (window[CURRENT] === end) delete window[CURRENT];
  };
  window[CURRENT] = end;
  return end;
}
