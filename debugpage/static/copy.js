// Copying a text. Browsers have a clipboard for pages that came over TLS or from
// this machine; elsewhere an old command may do it, and at last the user.

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not there, or not allowed.
  }
  const dialog = document.getElementById("copy-dialog");
  const area = document.getElementById("copy-text");
  area.value = text;
  dialog.showModal();
  area.select();
  if (!document.execCommand("copy")) return false;
  dialog.close();
  return true;
}
