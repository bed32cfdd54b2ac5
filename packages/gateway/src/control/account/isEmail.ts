import { foldText } from '../../storage/foldText.ts'

const maxBytes = 254
const shape = /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u

/**
 * Whether a text may be a email address: it has one `@` with something on both sides, no spaces and nothing that cannot be seen, and at
 * most 254 bytes. Whether mail reaches it is not asked: none is ever sent.
 * @param mail - As it was typed; outer spaces do not count.
 * @see RFC 5321 section 4.5.3.1.3
 */
export const isEmail = (email: string): boolean =>
  typeof email === 'string' &&
  Buffer.byteLength(email.trim()) <= maxBytes &&
  shape.test(email.trim()) &&
  // The form by which it is found must be one too: there are characters that look, and fold, as `@`.
  shape.test(foldText(email))
