// Runs before the first paint, so that a chosen theme does not flash in the other one. theme.js does the rest.
try {
  const choice = localStorage.getItem("gradwatch-theme");
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch {
  // storage may be forbidden; the system's theme does
}
