/**
 * Makes a text that came from elsewhere safe to print: what moves the cursor, colours or turns a terminal stays out.
 *
 * @example
 * stripControlCharacters('a\u001B[2Jb') // 'a[2Jb'
 */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
}
