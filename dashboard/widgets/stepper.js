// The keys of a picture in steps: Plotly draws its play, pause and slider for a pointer alone. Here they can be reached
// by Tab, pressed with Enter or the space bar and moved with arrows, and say what they are. What they do is Plotly's.

const CURRENT = Symbol.for("epsilon-lab-stepper");
const INSET = 10; // Plotly's: from the end of its rail to the first step

export default function (component) {
  const { data } = component;
  const current = (window[CURRENT] = window[CURRENT] || new Map());
  if (current.has(data.chart)) current.get(data.chart)(); // the server's former answer
  const watching = new AbortController();
  let chart = null;
  let asked = 0;
  let ended = false;

  const named = (node, attributes) => {
    for (const [name, value] of Object.entries({ tabindex: 0, ...attributes })) {
      if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
    }
  };
  const slider = () => chart._fullLayout && chart._fullLayout.sliders && chart._fullLayout.sliders[0];

  function at() {
    const group = chart.querySelector(".slider-group");
    const found = slider();
    if (!group || !found) return;
    named(group, {
      role: "slider", "aria-label": data.slider, "aria-orientation": "horizontal", "aria-valuemin": 1,
      "aria-valuemax": found.steps.length, "aria-valuenow": found.active + 1, "aria-valuetext": found.steps[found.active].label,
    });
  }

  function moved(to) {
    const found = slider();
    const group = chart.querySelector(".slider-group");
    const rail = chart.querySelector(".slider-rail-touch-rect");
    const size = found._dims, place = Math.min(Math.max(to, 0), found.steps.length - 1);
    const inner = size.inputAreaLength - 2 * INSET - 2 * size.inputAreaStart;
    const share = found.steps.length > 1 ? place / (found.steps.length - 1) : 0;
    const spot = new DOMPoint(size.inputAreaStart + INSET + inner * share, 0).matrixTransform(group.getScreenCTM());
    rail.dispatchEvent(new MouseEvent("mousedown", { clientX: spot.x, clientY: spot.y, bubbles: true, cancelable: true }));
    chart.dispatchEvent(new MouseEvent("mouseup", { clientX: spot.x, clientY: spot.y }));
    at();
  }

  function pressed(event) {
    const button = event.target.closest(".updatemenu-button");
    if (button) {
      if (event.key !== "Enter" && event.key !== " ") return;
      button.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    } else if (event.target.closest(".slider-group")) {
      const { active, steps } = slider();
      const far = Math.max(1, Math.round(steps.length / 10));
      const way = {
        ArrowRight: active + 1, ArrowUp: active + 1, ArrowLeft: active - 1, ArrowDown: active - 1,
        PageUp: active + far, PageDown: active - far, Home: 0, End: steps.length - 1,
      };
      if (!(event.key in way)) return;
      moved(way[event.key]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function equip() {
    if (ended) return;
    const found = document.querySelector(`.st-key-${CSS.escape(data.chart)} .js-plotly-plot`);
    if (!found || !found.querySelector(".updatemenu-button") || !found.on) {
      asked = setTimeout(equip, 100);
      return;
    }
    if (found !== chart) {
      chart = found;
      chart.addEventListener("keydown", pressed, { capture: true, signal: watching.signal });
      chart.on("plotly_afterplot", soon);
      for (const name of ["plotly_sliderchange", "plotly_animatingframe"]) chart.on(name, at);
    }
    chart.querySelectorAll(".updatemenu-button").forEach((button, place) => {
      named(button, { role: "button", "aria-label": data.buttons[place] });
    });
    at();
  }

  function soon() {
    clearTimeout(asked);
    asked = setTimeout(equip, 50);
  }

  soon();
  const end = () => {
    ended = true;
    if (current.get(data.chart) === end) current.delete(data.chart);
    clearTimeout(asked);
    watching.abort();
    if (!chart || !chart.removeListener) return;
    chart.removeListener("plotly_afterplot", soon);
    for (const name of ["plotly_sliderchange", "plotly_animatingframe"]) chart.removeListener(name, at);
  };
  current.set(data.chart, end);
  return end;
}
