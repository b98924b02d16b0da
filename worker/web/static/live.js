"use strict";
// Replaces the sections of <main> that changed, when the server says that something did.
(() => {
  const main = document.querySelector("main[data-live]");
  if (!main) return;
  const connection = document.getElementById("connection");
  const announce = document.getElementById("announce");
  const shown = new Map();
  let source = null, retry = 0, isAsking = false, isStale = false;

  for (const section of main.querySelectorAll("section[id]")) shown.set(section.id, section.outerHTML);

  function say(text, isLost) {
    if (connection.textContent !== text) connection.textContent = text;
    connection.classList.toggle("lost", isLost);
  }

  function replace(fresh) {
    const old = document.getElementById(fresh.id);
    if (!old || shown.get(fresh.id) === fresh.outerHTML) return;
    shown.set(fresh.id, fresh.outerHTML);
    const focused = old.contains(document.activeElement) ? document.activeElement.id : null;
    const had = focused !== null;
    const open = [...old.querySelectorAll("details[open][id]")].map((d) => d.id);
    const left = [...old.querySelectorAll(".wide[id]")].map((d) => [d.id, d.scrollLeft]);
    old.replaceWith(fresh);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    for (const [id, at] of left) { const d = document.getElementById(id); if (d) d.scrollLeft = at; }
    if (had) {
      const target = (focused && document.getElementById(focused)) || fresh;
      if (target === fresh) fresh.tabIndex = -1;
      target.focus({ preventScroll: true });
    }
  }

  async function refresh() {
    if (isAsking) { isStale = true; return; }
    isAsking = true;
    try {
      do {
        isStale = false;
        const answer = await fetch(main.dataset.part, { cache: "no-store" });
        if (answer.status === 401 || answer.redirected) { location.reload(); return; }
        if (!answer.ok) { say("The server is in trouble; trying again", true); return; }
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const before = document.getElementById("answer-text")?.textContent;
        for (const section of page.querySelectorAll("section[id]")) replace(section);
        const after = document.getElementById("answer-text")?.textContent;
        if (after && after !== before) announce.textContent = after;
        say("Live", false);
      } while (isStale);
    } catch {
      lost();
    } finally {
      isAsking = false;
    }
  }

  function close() {
    clearTimeout(retry);
    if (source) source.close();
    source = null;
  }

  function lost() {
    close();
    say("Connection lost; trying again", true);
    if (!document.hidden) retry = setTimeout(open, 2000);
  }

  function open() {
    close();
    source = new EventSource(main.dataset.live);
    source.onopen = refresh;
    source.onerror = lost;
    source.addEventListener("change", refresh);
    source.addEventListener("away", () => say("The server that keeps the state is away", true));
  }

  // Nobody looks at a hidden tab: no connection, no work.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); say("Not live: the tab is hidden", false); } else open();
  });
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
})();
