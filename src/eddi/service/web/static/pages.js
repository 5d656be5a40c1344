// What makes the pages smoother where scripts run; without them everything works as well.
"use strict";

document.documentElement.classList.add("js"); // before the first paint, so that nothing jumps

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("input[data-box]").forEach(pair);
  document.querySelectorAll("form").forEach(sendOnce);
  document.querySelectorAll("[data-why]").forEach(unfold);
  document.querySelectorAll("[data-copy]").forEach(copies);
  document.querySelectorAll(".part").forEach(silence);
  history.replaceState(null, "", location.href); // coming back to a refused form must not send it again
  const wrong = document.querySelector(".problems, [aria-invalid='true'], fieldset[aria-describedby] input");
  if (wrong) wrong.focus();
});

// A slider and its box say the same.
function pair(slider) {
  const box = document.getElementById(slider.dataset.box);
  const follow = () => {
    const typed = Number(box.value.trim().replace(",", "."));
    const told = box.value.trim() !== "" && Number.isFinite(typed);
    slider.classList.toggle("untouched", !told);
    if (told) slider.value = String(typed);
  };
  slider.addEventListener("input", () => {
    box.value = slider.value;
    slider.classList.remove("untouched");
    box.dispatchEvent(new Event("change", { bubbles: true }));
  });
  box.addEventListener("input", follow);
  follow();
}

// Typing a value means it is known; not knowing it leaves the value aside.
function silence(part) {
  const unknown = part.querySelector(".silent input");
  if (!unknown) return;
  part.addEventListener("input", (event) => {
    if (event.target !== unknown) unknown.checked = false;
  });
}

// A double click sends once. Coming back by the browser's own button makes the form usable again.
function sendOnce(form) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
}

// Why this question: fetched into place, so that what was typed stays.
function unfold(link) {
  const place = document.querySelector("[data-why-here]");
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  link.addEventListener("keydown", (event) => {
    if (event.key === " ") { event.preventDefault(); link.click(); }
  });
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const open = link.getAttribute("aria-expanded") === "true";
    link.setAttribute("aria-expanded", String(!open));
    place.hidden = open;
    if (open || place.childElementCount) return;
    try {
      const answer = await fetch(link.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceChildren(document.adoptNode(page.getElementById("why")));
    } catch {
      location.assign(link.href);
    }
  });
}

// The link to come back by, on the clipboard.
function copies(button) {
  const box = document.getElementById(button.dataset.copy);
  box.addEventListener("focus", () => box.select());
  button.addEventListener("click", async () => {
    box.select();
    if (navigator.clipboard) await navigator.clipboard.writeText(box.value);
    else document.execCommand("copy"); // where the page does not come by https
    button.textContent = "Copied";
  });
}
