/**
 * Puts a text on the clipboard. It may still have to be asked for: the click that wants it must not have been long ago.
 * @returns Whether it is there now.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The clipboard's own way is there over https and on this machine only. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'hidden'
  document.body.append(field)
  field.select()
  try {
    // Deprecated, and the one way there is over plain http.
    return document.execCommand('copy')
  } finally {
    field.remove()
  }
}
