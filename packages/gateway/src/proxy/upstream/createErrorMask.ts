import { createMask } from '../../lib/secrets/createMask.ts'

/** The parts of an upstream's URL that callers must not see. */
export interface UpstreamSecrets {
  /** Each run of 8 characters of these is masked, in any encoding that `createMask` knows. */
  readonly secrets: readonly string[]
  /** These are masked only as a whole, because their parts are common words. */
  readonly wholes: readonly string[]
}

/** Masks the secrets in an error object's bytes. Returns the same bytes if there are none. */
export type ErrorMask = (value: Buffer) => Buffer

/** Replaces an error that is not an object any more once it is masked, because a secret spans several of its members. */
const maskedError = Buffer.from('{"code":-32603,"message":"***"}')

/**
 * Creates a function that masks an upstream's secrets in its node's errors. Results are never masked: they are chain data, in which 8
 * characters of a key can appear by chance.
 * @example
 * const mask = createErrorMask({ secrets: ['notARealKey'], wholes: [] })
 * mask(Buffer.from('{"code":-32000,"message":"bad key notARealKey"}')).toString() // '{"code":-32000,"message":"bad key ***"}'
 */
export const createErrorMask = ({ secrets, wholes }: UpstreamSecrets): ErrorMask => {
  const mask = createMask(secrets, wholes)
  return (value) => {
    // One character for each byte, so that all bytes that are not masked stay the same.
    const text = value.toString('latin1')
    const shown = mask(text, '***')
    if (shown === text) return value
    return isObject(shown) ? Buffer.from(shown, 'latin1') : maskedError
  }
}

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
