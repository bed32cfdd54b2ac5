/**
 * Copies a text to the clipboard. The text may be a promise, but browsers allow this only shortly after a click.
 * @returns Whether it was copied.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The Clipboard API works only over HTTPS and on this machine. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'hidden'
  document.body.append(field)
  field.select()
  try {
    // Deprecated, but the only way over plain HTTP.
    return document.execCommand('copy')
  } finally {
    field.remove()
  }
}
