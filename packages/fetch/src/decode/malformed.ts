import { KeyrailError } from '@keyrail/core'

/**
 * The failure of an answer that is no answer. It never repeats what came, which could hold a secret.
 *
 * @param what - The place in the answer, such as `block.gasUsed`.
 * @param wanted - What should stand there.
 */
export function malformed(what: string, wanted: string): KeyrailError {
  return new KeyrailError(`${what} is not ${wanted}`, {
    kind: 'badResponse',
    source: 'node',
    retryable: false,
    hint: 'the node, or something between it and here, gave an answer that breaks the protocol',
  })
}
