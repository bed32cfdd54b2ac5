/**
 * What a server's text says, on one line: of an HTML page the title, or else what is left without tags.
 *
 * @param text - A text, a page, or JSON that is none; only its first 2,000 characters are looked at.
 * @example
 * plainText('<html><head><title>502 Bad Gateway</title></head></html>') // '502 Bad Gateway'
 */
export function plainText(text: string): string {
  let start = text.slice(0, 2_000)
  if (/^\s*</.test(start)) start = /<title[^<>]*>([^<]+)/i.exec(start)?.[1] ?? start.replace(/<[^<>]*>/g, ' ')
  return start.replace(/\s+/g, ' ').trim()
}
