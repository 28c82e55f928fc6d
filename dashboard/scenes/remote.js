// Keys and clicker, the blank screen, the window with the speaker's notes, and the focus on a control.
// Windows of one browser speak over a channel of their own: no note leaves the browser.
const CHANNEL = "epsilon-lab-deck";
const held = new WeakMap();
const FORWARD = ["ArrowRight", "PageDown"], BACK = ["ArrowLeft", "PageUp"], BLANK = ["b", "B", "."];
const OF_WIDGETS = "input, textarea, select, [contenteditable=true], [role=slider], [role=tab], [role=radio], [role=option]";

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let here = held.get(parentElement);
  if (!here) {
    here = data.role === "notes" ? notes(parentElement) : stage(parentElement);
    held.set(parentElement, here);
  }
  here.update(data, (number) => setTriggerValue("go", number));
  return () => {
    here.end();
    held.delete(parentElement);
  };
}

function stage(root) {
  const channel = new BroadcastChannel(CHANNEL);
  const black = document.createElement("div");
  black.className = "black";
  black.hidden = true;
  root.appendChild(black);
  let now = {}, ask = () => {}, wanted = 0, focused = 0;

  const tell = () => now.present && channel.postMessage({ kind: "now", blank: !black.hidden, ...now });
  const blank = (on) => { black.hidden = !on; tell(); };
  const move = (step) => {
    blank(false);
    const target = (wanted || now.number) + step;
    if (target < 1 || target > now.count) return;
    wanted = target; // keys that come while a scene is being drawn count from the scene that was asked for
    ask(target);
  };
  const pressed = (event) => {
    if (!now.present || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = event.key === "PageDown" || event.key === "PageUp"; // what clickers send
    if (!page && event.composedPath()[0].closest && event.composedPath()[0].closest(OF_WIDGETS)) return;
    const step = FORWARD.includes(event.key) ? 1 : BACK.includes(event.key) ? -1 : 0;
    if (step) move(step);
    else if (BLANK.includes(event.key)) blank(black.hidden);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener("keydown", pressed, true);
  channel.onmessage = ({ data }) => {
    if (data.kind === "hello") tell();
    if (data.kind === "move") move(data.step);
    if (data.kind === "blank") blank(black.hidden);
  };
  return {
    update(data, go) {
      const another = data.number !== now.number;
      if (another || data.number === wanted) wanted = 0;
      now = data;
      ask = go;
      tell();
      if (another && !now.present) look(data.look);
      if (data.asked > focused) {
        focused = data.asked;
        focus(data.focus);
      }
    },
    end() {
      window.removeEventListener("keydown", pressed, true);
      channel.close();
      black.remove();
    },
  };
}

function focus(keys, tries = 20) {
  for (const key of keys) {
    const name = `st-key-${CSS.escape(key.replace(/[^a-zA-Z0-9_-]/g, "-"))}`;
    const box = document.querySelector(`.${name}`) || document.querySelector(`[class*="${name}-"]`);
    const control = box && ["[role=slider]", "input", "[role=radio]", "button"]
      .map((kind) => box.querySelector(kind)).find((found) => found);
    if (control) {
      box.scrollIntoView({ block: "nearest" });
      control.focus();
      return;
    }
  }
  if (tries) setTimeout(() => focus(keys, tries - 1), 100);
}

// What is spoken of is brought into view, and once more when the pictures above it have their height.
function look(key) {
  for (const wait of [100, 900]) {
    setTimeout(() => {
      const mark = document.querySelector(`.st-key-${key}`);
      if (mark) mark.scrollIntoView({ block: "start" });
    }, wait);
  }
}

function notes(root) {
  const channel = new BroadcastChannel(CHANNEL);
  const find = (name) => root.querySelector(`[data-part=${name}]`);
  const began = Date.now();
  const send = (message) => channel.postMessage(message);
  find("back").onclick = () => send({ kind: "move", step: -1 });
  find("forward").onclick = () => send({ kind: "move", step: 1 });
  find("blank").onclick = () => send({ kind: "blank" });
  const clock = setInterval(() => {
    const seconds = Math.floor((Date.now() - began) / 1000);
    find("clock").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }, 1000);
  channel.onmessage = ({ data }) => {
    if (data.kind !== "now") return;
    find("waiting").hidden = true;
    find("shown").hidden = false;
    find("place").textContent = `${data.deck} · ${data.place}`;
    for (const part of ["title", "sentence", "notes"]) find(part).textContent = data[part];
    find("next").textContent = data.next;
    find("dark").hidden = !data.blank;
  };
  send({ kind: "hello" });
  return {
    update() {},
    end() {
      clearInterval(clock);
      channel.close();
    },
  };
}
