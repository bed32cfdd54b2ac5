/**
 * Makes untrusted text safe to print: removes characters that move the cursor, set colors or change the text direction.
 *
 * @example
 * stripControlCharacters('a\u001B[2Jb') // 'a[2Jb'
 */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
}
