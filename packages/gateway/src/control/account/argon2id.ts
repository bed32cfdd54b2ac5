import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** The cost of one hash. */
export interface Argon2Cost {
  /** In KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** The cost of new hashes. @see OWASP Password Storage Cheat Sheet, Argon2id */
export const argon2Cost: Argon2Cost = Object.freeze({ memory: 19_456, passes: 2, parallelism: 1 })

/** Computes a hash off the event loop. */
export type DeriveArgon2 = (work: {
  message: Uint8Array
  nonce: Uint8Array
  cost: Argon2Cost
  tagLength: number
}) => Promise<Uint8Array>

const runArgon2 = promisify(argon2)

/** Argon2id of `node:crypto`, which runs in the thread pool. */
export const deriveArgon2: DeriveArgon2 = ({ message, nonce, cost, tagLength }) =>
  runArgon2('argon2id', { message, nonce, ...cost, tagLength })

const saltLength = 16
const tagLength = 32
// Above any cost that we have used: a tampered row must not exhaust the machine.
const maxCost = { memory: 1_048_576, passes: 64, parallelism: 16 }
const phc =
  /^\$argon2id\$v=19\$m=([1-9][0-9]{0,7}),t=([1-9][0-9]{0,2}),p=([1-9][0-9]?)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

interface Phc {
  readonly cost: Argon2Cost
  readonly nonce: Uint8Array
  readonly tag: Uint8Array
}

const parsePhc = (text: string): Phc | undefined => {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = phc.exec(text) ?? []
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const fits =
    cost.memory >= 8 * cost.parallelism &&
    cost.memory <= maxCost.memory &&
    cost.passes <= maxCost.passes &&
    cost.parallelism <= maxCost.parallelism
  return fits ? { cost, nonce: Buffer.from(nonce, 'base64'), tag: Buffer.from(tag, 'base64') } : undefined
}

const toPhc = ({ cost, nonce, tag }: Phc): string => {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(tag)}`
}

/**
 * Hashes a password with a fresh salt.
 * @returns PHC text.
 * @see RFC 9106, and the PHC string format
 */
export const hashArgon2 = async (
  password: string,
  { derive = deriveArgon2, cost = argon2Cost }: { derive?: DeriveArgon2; cost?: Argon2Cost } = {},
): Promise<string> => {
  const nonce = randomBytes(saltLength)
  return toPhc({ cost, nonce, tag: await derive({ message: Buffer.from(password), nonce, cost, tagLength }) })
}

/**
 * Verifies a password against a stored hash. Always computes one hash, with a random salt if there is nothing to compare, so that timing
 * does not disclose whether the account exists.
 * @param stored - PHC text; `undefined` if there is no such account.
 */
export const verifyArgon2 = async (
  stored: string | undefined,
  password: string,
  { derive = deriveArgon2, cost = argon2Cost }: { derive?: DeriveArgon2; cost?: Argon2Cost } = {},
): Promise<boolean> => {
  const known = stored === undefined ? undefined : parsePhc(stored)
  const against = known ?? { cost, nonce: randomBytes(saltLength), tag: randomBytes(tagLength) }
  const tag = await derive({
    message: Buffer.from(password),
    nonce: against.nonce,
    cost: against.cost,
    tagLength: against.tag.length,
  })
  return timingSafeEqual(tag, against.tag) && known !== undefined
}

/** Whether a hash is weaker than new ones, or malformed. */
export const isWeakArgon2 = (stored: string, cost: Argon2Cost = argon2Cost): boolean => {
  const known = parsePhc(stored)
  return (
    known === undefined ||
    known.cost.memory < cost.memory ||
    known.cost.passes < cost.passes ||
    known.tag.length < tagLength
  )
}
