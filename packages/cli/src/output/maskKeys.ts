/**
 * Masks all but the last four characters of every Keyrail key in a text. This is the last line of defense: text for people should contain no
 * key in the first place.
 *
 * @example
 * maskKeys('at kr_a0123456789…') // 'at …6789'
 */
export function maskKeys(text: string): string {
  return text.replace(/kr_[atm][0-9A-Za-z]{35}([0-9A-Za-z]{4})/g, '…$1')
}
