// Makes the respondent's pages more convenient. Everything also works without scripts.
"use strict";

document.documentElement.classList.add("js"); // before the first paint, to avoid layout shifts

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("input[data-box]").forEach(linkSlider);
  document.querySelectorAll("form").forEach(submitOnce);
  document.querySelectorAll("[data-why]").forEach(expandExplanation);
  document.querySelectorAll("[data-copy]").forEach(enableCopy);
  document.querySelectorAll(".part").forEach(uncheckUnknown);
  document.querySelectorAll("[data-options]").forEach(excludeNone);
  document.querySelectorAll("form[data-choose]").forEach(submitOnChoice);
  document.querySelectorAll("[data-print]").forEach((button) => button.addEventListener("click", () => window.print()));
  document.querySelectorAll("a[data-redirect]").forEach((link) => link.click());
  history.replaceState(null, "", location.href); // going back to a form with errors must not submit it again
  const invalid = document.querySelector(".problems, [aria-invalid='true'], fieldset[aria-describedby] input");
  if (invalid) invalid.focus();
  else focusInput();
});

// The first field of a question has the focus, so that one can type at once. Enter sends the form.
function focusInput() {
  const field = document.querySelector("form.question :is(input[type=text], select)");
  if (field) field.focus({ preventScroll: true });
}

// Choosing an option with the mouse or a finger sends it. With the keyboard, Enter does.
function submitOnChoice(form) {
  form.addEventListener("click", (event) => {
    const isPointer = event.detail > 0; // the arrow keys choose with a click of detail 0
    const option = event.target.closest("label.choice");
    if (isPointer && option && event.target.tagName !== "INPUT") {
      option.querySelector("input").checked = true;
      event.preventDefault();
      form.requestSubmit(form.querySelector(".next"));
    } else if (isPointer && option) {
      form.requestSubmit(form.querySelector(".next"));
    }
  });
}

// Keep a slider and its text box in sync.
function linkSlider(slider) {
  const box = document.getElementById(slider.dataset.box);
  const updateSlider = () => {
    const number = Number(box.value.trim().replace(",", "."));
    const isNumber = box.value.trim() !== "" && Number.isFinite(number);
    slider.classList.toggle("untouched", !isNumber);
    if (isNumber) slider.value = String(number);
  };
  slider.addEventListener("input", () => {
    box.value = slider.value.replace(".", slider.dataset.decimal);
    slider.classList.remove("untouched");
    box.dispatchEvent(new Event("change", { bubbles: true }));
  });
  box.addEventListener("input", updateSlider);
  updateSlider();
}

// Entering a value unchecks "I don't know".
function uncheckUnknown(part) {
  const unknown = part.querySelector(".silent input");
  if (!unknown) return;
  part.addEventListener("input", (event) => {
    if (event.target !== unknown) unknown.checked = false;
  });
}

// "None of these" and the options exclude each other.
function excludeNone(group) {
  const boxes = [...group.querySelectorAll("input")];
  const none = boxes.pop();
  group.addEventListener("change", (event) => {
    if (!event.target.checked) return;
    (event.target === none ? boxes : [none]).forEach((box) => { box.checked = false; });
  });
}

// A double click submits a form once. After going back in the browser, the form can be submitted again.
function submitOnce(form) {
  let isSubmitted = false;
  form.addEventListener("submit", (event) => {
    if (isSubmitted) event.preventDefault();
    isSubmitted = true;
  });
  window.addEventListener("pageshow", () => { isSubmitted = false; });
}

// Show the explanation of the question on the same page, so that the input is kept.
function expandExplanation(link) {
  const container = document.querySelector("[data-why-here]");
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  link.addEventListener("keydown", (event) => {
    if (event.key === " ") { event.preventDefault(); link.click(); }
  });
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const isOpen = link.getAttribute("aria-expanded") === "true";
    link.setAttribute("aria-expanded", String(!isOpen));
    container.hidden = isOpen;
    if (isOpen || container.childElementCount) return;
    try {
      const response = await fetch(link.href);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      container.replaceChildren(document.adoptNode(page.getElementById("why")));
    } catch {
      location.assign(link.href);
    }
  });
}

// Copy the private link to the clipboard.
function enableCopy(button) {
  const box = document.getElementById(button.dataset.copy);
  box.addEventListener("focus", () => box.select());
  button.addEventListener("click", async () => {
    box.select();
    if (navigator.clipboard) await navigator.clipboard.writeText(box.value);
    else document.execCommand("copy"); // the clipboard API needs HTTPS
    button.textContent = button.dataset.done;
  });
}
