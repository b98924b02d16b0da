"use strict";
// Sends a file that was chosen or dropped, and asks how many labels a plan will take.
(() => {
  const told = document.getElementById("told");
  const take = document.getElementById("take");
  const foresee = document.getElementById("foresee");

  async function send(file) {
    told.textContent = `Sending and reading ${file.name} ...`;
    try {
      const answer = await fetch(`/new/file/${encodeURIComponent(file.name)}`, {
        method: "PUT", headers: { "X-CSRF": take.dataset.csrf }, body: file,
      });
      if (answer.ok) location.assign((await answer.json()).page);
      else told.textContent = await answer.text();
    } catch {
      told.textContent = "The file could not be sent; try again.";
    }
  }

  if (take) {
    const input = document.getElementById("file");
    take.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.files.length) send(input.files[0]);
      else told.textContent = "Choose a file first.";
    });
    // Anywhere on the page: a browser would open what is dropped beside the field.
    for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
    addEventListener("drop", (event) => { if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]); });
  }

  if (foresee) foresee.addEventListener("click", async () => {
    foresee.disabled = true;
    told.textContent = "Simulating; this may take a minute ...";
    try {
      const body = new URLSearchParams({ csrf: foresee.dataset.csrf });
      told.textContent = await (await fetch(foresee.dataset.url, { method: "POST", body })).text();
    } catch {
      told.textContent = "No answer came; try again.";
    }
    foresee.disabled = false;
  });
})();
