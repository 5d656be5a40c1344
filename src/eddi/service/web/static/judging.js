// The decision viewer's scrubber: steps come into place while it is drawn. Without scripts there are links.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-scrub]").forEach(scrub);
});

function scrub(slider) {
  const place = document.getElementById("decision");
  const said = document.getElementById("step-said"); // to those who do not see it
  const links = [...document.querySelectorAll(".scrubber nav a")];
  const pages = new Map(); // what was fetched, by step
  let wanted = slider.value;

  const page = (step) => {
    if (!pages.has(step)) {
      pages.set(step, fetch(`${slider.dataset.scrub}?step=${step}`)
        .then((answer) => {
          if (!answer.ok || answer.redirected) throw new Error("not to be had");
          return answer.text();
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
    wanted = step;
    slider.value = step;
    mark(step);
    try {
      const fresh = await page(step);
      if (wanted !== step) return; // drawn on meanwhile
      place.innerHTML = fresh;
      said.textContent = place.querySelector("h2").textContent;
      history.replaceState(null, "", `${slider.dataset.scrub}?step=${step}`);
    } catch {
      location.assign(`${slider.dataset.scrub}?step=${step}`);
    }
  };
  slider.value = links.findIndex((link) => link.hasAttribute("aria-current")); // a browser may restore another
  slider.addEventListener("input", () => show(slider.value));
  links.forEach((link, n) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(String(n));
  }));
}
