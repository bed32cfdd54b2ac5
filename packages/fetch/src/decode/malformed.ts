import { KeyrailError } from '@keyrail/core'

/**
 * Creates the error for a malformed response. The message never contains the value, which could be a secret.
 *
 * @param path - The path in the response, such as `block.gasUsed`.
 * @param wanted - What the value should be.
 */
export function malformed(path: string, wanted: string): KeyrailError {
  return new KeyrailError(`${path} is not ${wanted}`, {
    kind: 'badResponse',
    source: 'node',
    retryable: false,
    hint: 'the node, or a proxy in front of it, returned a response that violates the protocol',
  })
}
