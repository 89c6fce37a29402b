// Where one is in a story, and where the buttons lead; knows nothing of the page. A part of
// stepper.js.

class Course {
  constructor(story) {
    Object.assign(this, { story, hidden: new Set(), routine: false });
  }

  get last() {
    return this.story.steps.length - 1;
  }

  /* The runs that a step moves on: both, before they part. */
  moved(step) {
    const before = this.story.steps[step - 1];
    return this.story.steps[step]
      .map((k, run) => [run, k])
      .filter(([run, k]) => k >= 0 && (!before || before[run] !== k));
  }

  isStop(step) {
    return this.moved(step).some(([place, k]) => {
      const run = this.story.runs[place];
      const routine = !this.routine && this.routineOf(place).has(k);
      return !routine && !this.hidden.has(run.names[run.nodes[k]]);
    });
  }

  routineOf(place) {
    this.routines ??= this.story.runs.map((run) => new Set(run.routine));
    return this.routines[place];
  }

  /* The next stop in a direction, or the end in that direction. */
  next(step, by) {
    for (let at = step + by; at >= 0 && at <= this.last; at += by) {
      if (this.isStop(at)) return at;
    }
    return by < 0 ? 0 : this.last;
  }

  jump(step, kind, by) {
    this.stops ??= new Map();
    if (!this.stops.has(kind)) {
      this.stops.set(kind, this.story.runs.map((run) => new Set(run.stops[kind] ?? [])));
    }
    const wanted = this.stops.get(kind);
    for (let at = step + by; at >= 0 && at <= this.last; at += by) {
      if (this.moved(at).some(([run, k]) => wanted[run].has(k))) return at;
    }
    return step;
  }

  /* The step at which a run shows an event. */
  stepOf(run, k) {
    return Math.max(0, this.story.steps.findIndex((each) => each[run] >= k));
  }
}
