// Improvements of the analyst's pages. All of them work without scripts, too.
"use strict";

const POLL_SECONDS = 1; // between requests while a job runs

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-poll]").forEach(poll);
  document.querySelectorAll(".drop").forEach(acceptDrop);
  document.querySelectorAll("form[data-max-bytes]").forEach(checkSize);
});

// Update the status of a running job; elements that have not changed keep their focus.
function poll(container) {
  const address = container.dataset.poll;
  if (!address) return;
  const update = async () => {
    try {
      const response = await fetch(address);
      if (!response.ok || response.redirected) return location.reload();
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const job = page.querySelector(".job");
      if (!job || !["waiting", "running"].includes(job.dataset.state)) return location.reload();
      container.querySelectorAll("[data-part]").forEach((part) => {
        const fresh = job.querySelector(`[data-part="${part.dataset.part}"]`);
        if (fresh && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes);
      });
    } catch { /* the server may be available again next time */ }
    setTimeout(update, POLL_SECONDS * 1000);
  };
  setTimeout(update, POLL_SECONDS * 1000);
}

// Accept a file that is dropped anywhere on the upload form.
function acceptDrop(form) {
  const input = form.querySelector("input[type=file]");
  for (const type of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(type, (event) => {
      event.preventDefault();
      form.classList.toggle("over", type === "dragover");
      if (type === "drop" && event.dataTransfer.files.length) input.files = event.dataTransfer.files;
    });
  }
}

// A file that is too large is refused before it is sent.
function checkSize(form) {
  const input = form.querySelector("input[type=file]");
  const message = form.querySelector("[data-upload-error]");
  form.addEventListener("submit", (event) => {
    const file = input.files[0];
    const isTooLarge = Boolean(file) && file.size > Number(form.dataset.maxBytes);
    message.hidden = !isTooLarge;
    message.textContent = isTooLarge ? form.dataset.tooLarge : "";
    if (isTooLarge) {
      event.preventDefault();
      event.stopImmediatePropagation(); // the form can be sent again with another file
    }
  }, true);
}
