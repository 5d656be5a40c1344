// Improvements of the analyst's pages. All of them work without scripts, too.
"use strict";

const POLL_SECONDS = 1; // between requests while a job runs

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-poll]").forEach(poll);
  document.querySelectorAll(".drop").forEach(acceptDrop);
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
