// A button beside the title that copies the page as Markdown, for a question to a model.
const page = document.getElementById("page-markdown");
const title = document.querySelector("article h1");
if (page && title) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "md-button copy-page";
  button.textContent = "Copy page";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(JSON.parse(page.textContent));
    button.textContent = "Copied";
  });
  title.before(button);
}
