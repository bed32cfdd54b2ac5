/**
 * Masks whatever has the shape of a Keyrail key, but for its last four characters. A last line of defence in front of everything that is
 * printed for people: nothing should hold a key by then.
 *
 * @example
 * maskKeys('at kr_a0123456789…') // 'at …6789'
 */
export function maskKeys(text: string): string {
  return text.replace(/kr_[atm][0-9A-Za-z]{35}([0-9A-Za-z]{4})/g, '…$1')
}
