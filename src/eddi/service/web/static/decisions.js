// The slider of the decision viewer, which loads steps in place. Without scripts, the links are used.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-steps]").forEach(connect);
});

function connect(slider) {
  const container = document.getElementById("decision");
  const status = document.getElementById("step-status"); // for screen readers
  const links = [...document.querySelectorAll(".step-slider nav a")];
  const pages = new Map(); // fetched steps
  let requested = slider.value;

  const load = (step) => {
    if (!pages.has(step)) {
      pages.set(step, fetch(`${slider.dataset.steps}?step=${step}`)
        .then((response) => {
          if (!response.ok || response.redirected) throw new Error("the step could not be loaded");
          return response.text();
        })
        .then((text) => new DOMParser().parseFromString(text, "text/html").getElementById("decision").innerHTML)
        .catch((error) => { pages.delete(step); throw error; }));
    }
    return pages.get(step);
  };
  const mark = (step) => links.forEach((link, n) => {
    if (String(n) === step) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  });
  const show = async (step) => {
    requested = step;
    slider.value = step;
    mark(step);
    try {
      const html = await load(step);
      if (requested !== step) return; // the slider has moved on
      container.innerHTML = html;
      status.textContent = container.querySelector("h2").textContent;
      history.replaceState(null, "", `${slider.dataset.steps}?step=${step}`);
    } catch {
      location.assign(`${slider.dataset.steps}?step=${step}`);
    }
  };
  slider.value = links.findIndex((link) => link.hasAttribute("aria-current")); // a browser may restore another value
  slider.addEventListener("input", () => show(slider.value));
  links.forEach((link, n) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(String(n));
  }));
}
