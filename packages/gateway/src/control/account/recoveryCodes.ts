import { randomInt } from 'node:crypto'
import { hashSecret } from './secretText.ts'

const count = 10
// Without letters and digits that look alike.
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const groups = 4
const groupLength = 4

const createGroup = (): string => Array.from({ length: groupLength }, () => letters[randomInt(letters.length)]).join('')

/** Creates ten recovery codes of 80 random bits, such as `7KQ2-…`. */
export const createRecoveryCodes = (): readonly string[] =>
  Array.from({ length: count }, () => Array.from({ length: groups }, createGroup).join('-'))

/**
 * Hashes a recovery code for storage and lookup. It is random, so a fast hash is enough.
 * @param code - As the user typed it.
 */
export const hashRecoveryCode = (code: string): string => hashSecret(code.replaceAll(/[\s-]/g, '').toUpperCase())
