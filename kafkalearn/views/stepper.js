// Steps through what Python drew. Model: `html` (the page), `story` (see story.py), `step`,
// `notice`. A saved page has the same model, and nobody who hears its messages.
// run.js and course.js stand before it in one module.

class Stepper {
  constructor(model, root) {
    Object.assign(this, { model, root, step: -1, playing: 0, drawn: model.get("drawn") });
    root.innerHTML = model.get("html");
    this.page = root.querySelector(".kl-stepper");
    const story = (this.story = model.get("story"));
    this.course = new Course(story);
    this.runs = story.runs.map((run, place) => {
      const element = root.querySelector(`[data-run="${place}"]`);
      return new Run(element, run, story.strings, story.words);
    });
    this.count = this.find("[data-count]");
    this.scrub = this.find("[data-scrub]");
    this.aloud = this.find(".kl-aloud");
    // A pane that has grown stays as high, so that nothing below it jumps while one steps. What
    // was needed while the page was narrower, as Jupyter lays it out at first, does not count.
    const widths = new Map();
    const stay = ({ target }) => {
      if (target.offsetWidth > (widths.get(target) ?? 0)) target.style.minHeight = "";
      widths.set(target, target.offsetWidth);
      if (target.offsetHeight > 0) target.style.minHeight = `${target.offsetHeight}px`;
    };
    const observer = new ResizeObserver((entries) => entries.forEach(stay));
    root.querySelectorAll("article > .kl-pane, .kl-caption").forEach((e) => observer.observe(e));
    const notice = this.find("[data-notice]");
    notice.textContent = model.get("notice");
    notice.hidden = !notice.textContent;
    this.go(model.get("step"));
  }

  /* What is kept when the page is drawn anew: which buttons are down, what is chosen. */
  get pressed() {
    const buttons = [...this.root.querySelectorAll("[aria-pressed]")];
    return new Map(buttons.map((each) => [JSON.stringify(each.dataset), each]));
  }

  keep(before) {
    const { pressed } = before;
    for (const [name, button] of this.pressed) {
      const was = pressed.get(name)?.getAttribute("aria-pressed");
      const same = this.runs.length === before.runs.length; // two runs open fewer panes
      if (was && same && was !== button.getAttribute("aria-pressed")) this.use(button);
    }
    for (const entry of ["[data-target]", "[data-for]", "[data-speed]"]) {
      const [now, was] = [this.find(entry), before.entries.get(entry)];
      if (now && was !== undefined) now.value = was;
    }
  }

  get entries() {
    const names = ["[data-target]", "[data-for]", "[data-speed]"];
    return new Map(names.map((name) => [name, this.find(name)?.value]));
  }

  /* End what would still happen later: it belongs to a page that is gone. */
  leave() {
    this.play(false);
    clearTimeout(this.telling);
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  go(step) {
    const at = Math.max(0, Math.min(step, this.course.last));
    if (at === this.step || !this.story.steps.length) return;
    this.step = at;
    this.story.steps[at].forEach((k, run) => this.runs[run].show(k));
    const moved = this.course.moved(at);
    const [place, k] = moved[0] ?? [0, 0];
    const run = this.story.runs[place];
    const [, ...words] = this.count.dataset.count.match(/^(.*?)\{\}(.*)\{\}(.*)$/);
    const counted = `${words[0]}${at + 1}${words[1]}${this.course.last + 1}${words[2]}`;
    const called = this.drawn === undefined ? "" : ` · go_to(${at})`; // where there is a kernel
    this.count.textContent = `${counted} · ${moment(run.times[k])}${called}`;
    this.scrub.value = at;
    for (const button of this.root.querySelectorAll("[data-jump]")) {
      const last = this.course.jump(at, button.dataset.jump, 1) === at;
      button.setAttribute("aria-disabled", String(last));
    }
    this.scrub.setAttribute("aria-valuetext", this.count.textContent);
    this.runs.forEach((each, number) => {
      each.element.classList.toggle("kl-moved", moved.some(([which]) => which === number));
    });
    // A screen reader is told where one stops, not all that one passes; so is the kernel.
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      this.aloud.textContent = this.runs[place].caption.textContent;
      if (this.model.get("step") !== at) {
        this.model.set("step", at);
        this.model.save_changes();
      }
    }, 250);
  }

  play(on = !this.playing) {
    clearInterval(this.playing);
    this.playing = 0;
    if (on && this.step < this.course.last) {
      const perSecond = Number(this.find("[data-speed]").value);
      this.playing = setInterval(() => {
        this.go(this.course.next(this.step, 1));
        if (this.step >= this.course.last) this.play(false);
      }, 1000 / perSecond);
    }
    this.page.classList.toggle("kl-playing", Boolean(this.playing));
  }

  /* What a button does; `by` is -1 for the way back. */
  use(button, by = 1) {
    const { do: doing, jump, act, node, pane, routine } = button.dataset;
    if (doing !== "play") this.play(false);
    if (jump) this.go(this.course.jump(this.step, jump, by));
    else if (act) this.ask(act);
    else if (node !== undefined) this.toggle(button, this.course.hidden, node);
    else if (pane) this.open(button, pane);
    else if (routine) this.course.routine = press(button);
    else if (doing === "play") this.play();
    else if (doing === "first") this.go(0);
    else if (doing === "last") this.go(this.course.last);
    else if (doing === "difference") this.go(this.story.difference);
    else if (doing) this.go(this.course.next(this.step, doing === "back" ? -1 : 1));
  }

  toggle(button, hidden, name) {
    if (press(button)) hidden.delete(name);
    else hidden.add(name);
  }

  open(button, pane) {
    const on = press(button);
    for (const each of this.root.querySelectorAll(`[data-shows="${pane}"]`)) each.hidden = !on;
  }

  /* Ask the kernel to run the story again with a change at the step shown. */
  ask(action) {
    const settings = {};
    for (const entry of this.root.querySelectorAll("[data-setting]")) {
      const { type, checked, valueAsNumber, value } = entry;
      settings[entry.dataset.setting] =
        type === "checkbox" ? checked : type === "number" ? valueAsNumber : value;
    }
    const node = this.find("[data-target]")?.value;
    const for_ms = this.find("[data-for]")?.valueAsNumber;
    this.page.classList.add("kl-busy");
    this.model.send({ action, step: this.step, node, for_ms, settings });
  }

  speed(by) {
    const choice = this.find("[data-speed]");
    choice.selectedIndex = Math.max(0, Math.min(choice.selectedIndex + by, choice.length - 1));
    if (this.playing) this.play(true);
  }

  /* Whether a key was one of ours. */
  key({ key, shiftKey, target }) {
    if (target.matches("select, input:not([type=range])")) return false;
    if (key === " " && target.matches("button, summary, a")) return false;
    if (key === "+" || key === "=") return this.speed(1), true;
    if (key === "-" || key === "−") return this.speed(-1), true;
    const name = key.length === 1 ? key.toLowerCase() : key;
    const button = this.find(`[data-key="${CSS.escape(name)}"]`);
    if (button) this.use(button, shiftKey ? -1 : 1);
    return Boolean(button);
  }

  click(event) {
    const { target, clientX } = event;
    const button = target.closest("button");
    if (button) return this.use(button);
    const run = Number(target.closest("[data-run]")?.dataset.run);
    if (Number.isNaN(run)) return;
    const arrow = target.closest("[data-k]");
    const track = target.closest(".kl-track");
    if (arrow) this.go(this.course.stepOf(run, Number(arrow.dataset.k)));
    if (!track) return;
    const { left, width } = track.getBoundingClientRect();
    const events = this.story.runs[run].times.length;
    this.go(this.course.stepOf(run, Math.floor(((clientX - left) / width) * events)));
  }
}

function kept({ pressed, entries, runs }) {
  return { pressed, entries, runs };
}

function press(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  return on;
}

function render({ model, el }) {
  let stepper;
  const open = () => {
    stepper?.leave();
    const before = stepper && { ...kept(stepper), focused: el.contains(document.activeElement) };
    stepper = new Stepper(model, el);
    if (before) stepper.keep(before);
    if (before?.focused) stepper.page.focus({ preventScroll: true });
  };
  // JupyterLab takes keys on the document, before they come down here; only the window is earlier.
  const onKey = (event) => {
    if (!el.contains(event.target) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey && event.key === "Enter") return;
    event.stopPropagation();
    if (stepper.key(event)) event.preventDefault();
  };
  el.addEventListener("click", (event) => stepper.click(event));
  el.addEventListener("input", ({ target }) => {
    if (target.matches("[data-scrub]")) stepper.play(false), stepper.go(Number(target.value));
    if (target.matches("[data-speed]") && stepper.playing) stepper.play(true);
  });
  window.addEventListener("keydown", onKey, true);
  // A step that comes with another story is one of that story, which is opened next.
  const onStep = () => {
    if (stepper.drawn === model.get("drawn")) stepper.go(model.get("step"));
  };
  model.on("change:drawn", open);
  model.on("change:step", onStep);
  open();
  return () => {
    stepper.leave();
    window.removeEventListener("keydown", onKey, true);
    model.off("change:drawn", open);
    model.off("change:step", onStep);
  };
}

export default { render };
