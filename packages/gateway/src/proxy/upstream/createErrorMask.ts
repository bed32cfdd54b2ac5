import { createMask } from './createMask.ts'

/** What of an upstream's URL a caller must not see. */
export interface UpstreamSecrets {
  /** Each run of 8 characters of these is hidden, in any encoding that `createMask` knows. */
  readonly secrets: readonly string[]
  /** These are hidden only whole, because their parts are common words. */
  readonly wholes: readonly string[]
}

/** Returns an error object's bytes without secrets: the same bytes where there were none. */
export type ErrorMask = (value: Buffer) => Buffer

/** For an error whose masked text is not an error object any more: a secret was spread over several of its members. */
const hiddenError = Buffer.from('{"code":-32603,"message":"***"}')

/**
 * Makes a function that hides an upstream's secrets in the errors of its node. Results are never masked: they are chain data, in which
 * 8 characters of a key can appear by chance.
 * @example
 * const mask = createErrorMask({ secrets: ['notARealKey'], wholes: [] })
 * mask(Buffer.from('{"code":-32000,"message":"bad key notARealKey"}')).toString() // '{"code":-32000,"message":"bad key ***"}'
 */
export const createErrorMask = ({ secrets, wholes }: UpstreamSecrets): ErrorMask => {
  const mask = createMask(secrets, wholes)
  return (value) => {
    // Bytes as characters, so that what is not hidden stays the same bytes.
    const text = value.toString('latin1')
    const shown = mask(text, '***')
    if (shown === text) return value
    return isObject(shown) ? Buffer.from(shown, 'latin1') : hiddenError
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
