// Shows the HTML that Python drew, sends back which control was used, keeps the focus where it was.
// Model: `html`, `sentence` (said aloud), `drawn` (counts redraws). Attributes: controls.py.

function control(event) {
  const found = event.target.closest?.("[data-send]");
  return found && found.getAttribute("aria-disabled") !== "true" ? found : null;
}

function message(element) {
  const content = JSON.parse(element.dataset.send);
  // An empty or broken entry is NaN, which JSON carries as null: Python says what is allowed.
  const { type, value, valueAsNumber, dataset } = element;
  if (dataset.value) content[dataset.value] = type === "number" ? valueAsNumber : value;
  return content;
}

function byKey(page, key) {
  return key && page.querySelector(`[data-key="${CSS.escape(key)}"]`);
}

function render({ model, el }) {
  const page = document.createElement("form"); // a form of its own keeps its radio buttons apart
  const live = document.createElement("div");
  live.className = "kl-aloud";
  live.setAttribute("aria-live", "polite");
  el.append(page, live);

  const draw = () => {
    const { key, next } = page.querySelector(":focus")?.dataset ?? {};
    page.innerHTML = model.get("html");
    (byKey(page, key) ?? byKey(page, next))?.focus({ preventScroll: true });
    live.textContent = model.get("sentence");
  };

  // JupyterLab takes keys on the document, before they come down here: "x" would cut the cell.
  // Only the window is asked earlier. Shortcuts with a modifier stay JupyterLab's.
  const onKey = (event) => {
    const { key, target, ctrlKey, altKey, metaKey, shiftKey } = event;
    if (!page.contains(target) || ctrlKey || altKey || metaKey) return;
    if (shiftKey && key === "Enter") return;
    event.stopPropagation();
    const button = page.querySelector(`[data-hotkey="${CSS.escape(key)}"]:not([aria-disabled])`);
    if (!button || target.matches("input")) return;
    event.preventDefault();
    model.send(message(button));
  };

  page.addEventListener("submit", (event) => event.preventDefault());
  page.addEventListener("click", (event) => {
    const button = control(event);
    if (button?.matches("button")) model.send(message(button));
  });
  page.addEventListener("change", (event) => {
    const field = control(event);
    if (field?.matches("input")) model.send(message(field));
  });
  window.addEventListener("keydown", onKey, true);
  model.on("change:drawn", draw);
  draw();
  return () => {
    window.removeEventListener("keydown", onKey, true);
    model.off("change:drawn", draw);
  };
}

export default { render };
