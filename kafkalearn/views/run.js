// One run of a story, event by event: what its panes show. A part of stepper.js.

const NUMBERS = new Intl.NumberFormat("en");

/* When something was, as wording.moment writes it. */
function moment(ms) {
  if (ms > 1e11 && ms < 25e13) return new Date(ms).toISOString().slice(11, 23);
  return `${NUMBERS.format(ms)} ms`;
}

/* One pane of one run: which pieces it shows at which event. */
class Pane {
  constructor(element, changes, strings, events) {
    Object.assign(this, { element, changes, strings, shown: -1 });
    this.at = new Int32Array(events).fill(-1);
    changes.forEach(([from], place) => this.at.fill(place, from));
  }

  show(k) {
    const place = this.at[k];
    if (place === this.shown || place < 0) return false;
    this.shown = place;
    this.element.innerHTML = this.changes[place][1].map((piece) => this.strings[piece]).join("");
    return true;
  }
}

const SMALLEST = 0.65; // in which a diagram can still be read

/* The diagram of messages: a frame around the present row, a veil over what comes later. */
class Messages {
  constructor(element, geometry) {
    this.geometry = geometry;
    this.scroll = element.querySelector(".kl-scroll");
    this.veil = element.querySelector(".kl-veil");
    this.frame = element.querySelector(".kl-frame");
    this.lanes = element.querySelector(".kl-lanes");
    // JupyterLab lays a widget out only after it was made: then the row has to be found again.
    new ResizeObserver(() => this.fit()).observe(this.scroll);
    this.scroll.addEventListener("scroll", () => {
      this.lanes.style.transform = `translateX(${-this.scroll.scrollLeft}px)`;
    });
  }

  show(k) {
    const [y, height, reach] = this.geometry[k];
    this.veil.style.transform = `translateY(${reach}px)`;
    this.frame.style.transform = `translateY(${y}px)`;
    this.frame.style.height = `${height}px`;
    this.y = y;
    this.keepInSight();
  }

  /* Make it as small as the pane needs to show all lanes. */
  fit() {
    const wide = this.lanes.firstElementChild.getAttribute("width");
    const fitting = Math.floor((1000 * this.scroll.clientWidth) / wide) / 1000;
    this.zoom = Math.max(SMALLEST, Math.min(1, fitting));
    for (const each of [this.lanes, this.scroll]) each.firstElementChild.style.zoom = this.zoom;
    this.keepInSight();
  }

  keepInSight() {
    this.scroll.scrollTop = this.y * (this.zoom ?? 1) - this.scroll.clientHeight * 0.5;
  }
}

class Run {
  constructor(element, run, strings, words) {
    Object.assign(this, { element, run, strings, words, k: -1, times: [] });
    const find = (selector) => element.querySelector(selector);
    this.caption = find(".kl-caption");
    this.cursor = find(".kl-cursor");
    this.fields = find("[data-fields]");
    this.panes = run.panes.map(({ name, changes }) => {
      const place = find(`[data-shows="${name}"]`);
      return new Pane(place, changes, strings, run.times.length);
    });
    const messages = find('[data-shows="messages"]');
    this.messages = messages && new Messages(messages, run.messages.geometry);
  }

  show(k) {
    if (k === this.k || k < 0) return;
    this.k = k;
    this.caption.innerHTML = this.strings[this.run.captions[k]];
    this.cursor.style.left = `${(100 * (k + 0.5)) / this.run.times.length}%`;
    if (this.fields) this.fields.innerHTML = this.strings[this.run.fields[k]];
    // Every pane must be asked: `some` would stop at the first that changed.
    if (this.panes.filter((pane) => pane.show(k)).length) {
      this.times = [...this.element.querySelectorAll(".kl-time")];
    }
    const now = this.run.times[k];
    for (const each of this.times) {
      const { since, until } = each.dataset;
      const ms = since === undefined ? Math.max(0, until - now) : now - since;
      const words = since === undefined ? this.words.more : this.words.ago;
      each.textContent = words.replace("{}", NUMBERS.format(ms));
    }
    this.messages?.show(k);
  }
}
