// Names of the theme's landmarks; what scrolls can be reached by keyboard.
const landmarks = { ".sidebar-drawer": "All pages", ".toc-drawer": "This page" };
for (const [drawer, name] of Object.entries(landmarks))
  document.querySelector(drawer)?.setAttribute("aria-label", name);
document.querySelectorAll(".table-wrapper").forEach((wrapper, index) => {
  wrapper.tabIndex = 0;
  wrapper.setAttribute("role", "region");
  wrapper.setAttribute("aria-label", `Table ${index + 1} of this page`);
});
document.querySelectorAll(".card pre").forEach((output) => (output.tabIndex = 0));
