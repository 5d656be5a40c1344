// What makes the analyst's pages smoother where scripts run; without them everything works as well.
"use strict";

const SECONDS = 1; // between looks at a job that runs

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-live]").forEach(follow);
  document.querySelectorAll(".drop").forEach(welcome);
});

// A job that runs is looked at again and again; what has the focus stays.
function follow(place) {
  const address = place.dataset.live;
  if (!address) return;
  const look = async () => {
    try {
      const answer = await fetch(address);
      if (!answer.ok || answer.redirected) return location.reload();
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = page.querySelector(".job");
      if (!now || !["waiting", "running"].includes(now.dataset.state)) return location.reload();
      place.querySelectorAll("[data-part]").forEach((part) => {
        const fresh = now.querySelector(`[data-part="${part.dataset.part}"]`);
        if (fresh && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes);
      });
    } catch { /* the server may be back the next time */ }
    setTimeout(look, SECONDS * 1000);
  };
  setTimeout(look, SECONDS * 1000);
}

// A file may be dropped anywhere on the form.
function welcome(form) {
  const box = form.querySelector("input[type=file]");
  for (const what of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(what, (event) => {
      event.preventDefault();
      form.classList.toggle("over", what === "dragover");
      if (what === "drop" && event.dataTransfer.files.length) box.files = event.dataTransfer.files;
    });
  }
}
