/**
 * Converts a response body to one line of text: the title of an HTML page, or the text without tags.
 *
 * @param text - A text, an HTML page, or invalid JSON. Only its first 2,000 characters are read.
 * @example
 * toPlainText('<html><head><title>502 Bad Gateway</title></head></html>') // '502 Bad Gateway'
 */
export function toPlainText(text: string): string {
  let start = text.slice(0, 2_000)
  if (/^\s*</.test(start)) start = /<title[^<>]*>([^<]+)/i.exec(start)?.[1] ?? start.replace(/<[^<>]*>/g, ' ')
  return start.replace(/\s+/g, ' ').trim()
}
