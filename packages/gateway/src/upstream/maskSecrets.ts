/**
 * Masks what of an upstream's URL a node's error repeats. The one change made to what a node says, and made to errors only.
 * @param value - The error object's bytes.
 * @param secrets - Longest first.
 */
export const maskSecrets = (value: Buffer, secrets: readonly string[]): Buffer => {
  let text = value.toString('latin1')
  let changed = false
  for (const secret of secrets) {
    for (const spelled of [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll('/', '\\/')]) {
      const bytes = Buffer.from(spelled).toString('latin1')
      if (!text.includes(bytes)) continue
      text = text.replaceAll(bytes, '***')
      changed = true
    }
  }
  return changed ? Buffer.from(text, 'latin1') : value
}
