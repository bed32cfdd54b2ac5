import { foldText } from '../../storage/foldText.ts'

const maxBytes = 254
const shape = /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u

/**
 * Whether a text can be an email address: one `@` between two parts, no spaces or invisible characters, at most 254 bytes. Whether
 * it exists shows once an email is sent to it.
 * @param email - As the user typed it. Leading and trailing spaces are ignored.
 * @see RFC 5321 section 4.5.3.1.3
 */
export const isEmail = (email: string): boolean =>
  typeof email === 'string' &&
  Buffer.byteLength(email.trim()) <= maxBytes &&
  shape.test(email.trim()) &&
  // The folded form must be valid too: some characters fold to `@`.
  shape.test(foldText(email))
