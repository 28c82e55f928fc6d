// Handles over the points of a chart: drag one, and the server is told where it was let go.
// Nothing of the chart is changed. Whoever cannot drag types the same numbers, so all of this is hidden to readers.

const SVG = "http://www.w3.org/2000/svg";
const REACH = 11;

function make(name, attributes, parent) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  parent.appendChild(found);
  return found;
}

const CURRENT = Symbol.for("epsilon-lab-handles");

export default function (component) {
  const { data, setTriggerValue } = component;
  const current = (window[CURRENT] = window[CURRENT] || new Map());
  if (current.has(data.chart)) current.get(data.chart)(); // handles of the server's former answer
  let chart = null;
  let layer = null;
  let asked = 0;
  let watched = null;
  let ended = false;
  let dragging = false;

  const axis = (place) => chart._fullLayout && chart._fullLayout[data.axes[place]];
  const within = (value, low, high) => Math.min(Math.max(value, low), high);

  function place(value, along) {
    return along._offset + along.d2p(value);
  }

  function handle(x, y, who) {
    const across = axis(0), up = axis(1);
    const from = { x: place(x, across), y: place(y, up) };
    const grip = make("circle", { cx: from.x, cy: from.y, r: REACH, fill: "transparent", "data-handle": who + 1 }, layer);
    Object.assign(grip.style, { pointerEvents: "all", cursor: "grab", touchAction: "none" });
    grip.addEventListener("pointerdown", (down) => {
      dragging = true;
      down.preventDefault();
      down.stopPropagation();
      grip.setPointerCapture(down.pointerId);
      grip.style.cursor = "grabbing";
      const way = make("line", { x1: from.x, y1: from.y, x2: from.x, y2: from.y, stroke: data.ink, "stroke-dasharray": "4 3" }, layer);
      const dot = make("circle", { cx: from.x, cy: from.y, r: 7, fill: data.ink }, layer);
      let to = from;
      const move = (event) => {
        const box = layer.getBoundingClientRect();
        to = {
          x: within(event.clientX - box.left, across._offset, across._offset + across._length),
          y: data.sideways ? from.y : within(event.clientY - box.top, up._offset, up._offset + up._length),
        };
        for (const [mark, name] of [[way, "x2"], [dot, "cx"]]) mark.setAttribute(name, to.x);
        for (const [mark, name] of [[way, "y2"], [dot, "cy"]]) mark.setAttribute(name, to.y);
      };
      const end = (event) => {
        dragging = false;
        grip.removeEventListener("pointermove", move);
        grip.removeEventListener("pointerup", end);
        grip.removeEventListener("pointercancel", end);
        way.remove();
        dot.remove();
        grip.style.cursor = "grab";
        if (event.type === "pointerup" && Math.hypot(to.x - from.x, to.y - from.y) > 3) {
          setTriggerValue("moved", { who: who + 1, x: across.p2d(to.x - across._offset), y: up.p2d(to.y - up._offset) });
        }
      };
      grip.addEventListener("pointermove", move);
      grip.addEventListener("pointerup", end);
      grip.addEventListener("pointercancel", end);
    });
  }

  function paint() {
    const found = document.querySelector(`.st-key-${CSS.escape(data.chart)} .js-plotly-plot`);
    if (ended) return;
    if (dragging || !found || !found._fullLayout || !found._fullLayout[data.axes[0]]) {
      asked = setTimeout(paint, 100);
      return;
    }
    if (found !== chart) {
      chart = found;
      if (watched) watched.disconnect();
      watched = new ResizeObserver(soon);
      watched.observe(chart);
      chart.on("plotly_afterplot", soon);
    }
    if (layer) layer.remove();
    layer = make("svg", { width: chart.clientWidth, height: chart.clientHeight, "aria-hidden": "true" }, chart.parentElement);
    if (getComputedStyle(chart.parentElement).position === "static") chart.parentElement.style.position = "relative";
    Object.assign(layer.style, {
      position: "absolute", left: `${chart.offsetLeft}px`, top: `${chart.offsetTop}px`, pointerEvents: "none", zIndex: 2,
    });
    data.at.forEach(([x, y], who) => handle(x, y, who));
  }

  function soon() {
    clearTimeout(asked);
    asked = setTimeout(paint, 50);
  }

  soon();
  const end = () => {
    ended = true;
    if (current.get(data.chart) === end) current.delete(data.chart);
    clearTimeout(asked);
    if (watched) watched.disconnect();
    if (chart && chart.removeListener) chart.removeListener("plotly_afterplot", soon);
    if (layer) layer.remove();
  };
  current.set(data.chart, end);
  return end;
}
