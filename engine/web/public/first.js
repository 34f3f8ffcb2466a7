// Runs before the first frame, and where the module scripts cannot be loaded.
// The theme is set here, or the page would flash.
try {
  const theme = JSON.parse(localStorage.getItem("kibitz.theme"));
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // Forbidden or damaged: as the system has it.
}

addEventListener("load", () => {
  if (document.documentElement.dataset.begun) return;
  const trouble = document.getElementById("trouble");
  trouble.querySelector("button").onclick = refresh;
  trouble.hidden = false;
});

async function refresh() {
  try {
    // Delete cached files only if the host can send them again.
    const host = await fetch("./", { cache: "reload", signal: AbortSignal.timeout(5000) });
    if (host.ok) {
      await (await navigator.serviceWorker.getRegistration())?.unregister();
      for (const key of await caches.keys()) if (key.startsWith("kibitz-")) await caches.delete(key);
    }
  } catch {
    // No connection, or nothing kept.
  }
  location.reload();
}
