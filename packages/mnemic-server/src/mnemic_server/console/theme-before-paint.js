// Before anything is painted: the colours that were chosen here, or else those of the system. A plain script, so that
// nothing flashes.
(() => {
  const chosen = localStorage.getItem("mnemic.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
