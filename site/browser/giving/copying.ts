/** Makes a button, hidden until now, copy a text; the button itself says how that went. */
export function offerCopying(button: HTMLElement, text: HTMLElement): void {
  button.hidden = false;
  const words = button.textContent ?? "";
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      // Where the clipboard is closed to pages, the text is at least marked.
      getSelection()?.selectAllChildren(text);
      button.textContent = "Marked: copy it now";
    }
    setTimeout(() => {
      button.textContent = words;
    }, 4_000);
  };
  button.addEventListener("click", () => void copy());
}
