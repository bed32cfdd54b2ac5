import type { Hex } from '@keyrail/core'
import type { LogFilterFields } from '@keyrail/core/schema'
import { encodeHex } from '../encode/encodeHex.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import type { LogQuery } from './logQuery.ts'

const encodeOneOrMore = (value: Hex | readonly Hex[], name: string, bytes: number): Hex | readonly Hex[] =>
  Array.isArray(value)
    ? Array.from(value as readonly Hex[], (one) => encodeHex(one, name, bytes))
    : encodeHex(value as Hex, name, bytes)

/**
 * Encodes contracts and topics for the wire.
 *
 * @param query - Contracts and topics.
 * @throws {KeyrailError} kind `invalidRequest`. The message names the wrong option.
 */
export function encodeLogQuery({ address, topics }: LogQuery): LogFilterFields {
  if (!Array.isArray(topics ?? []))
    throw invalidOption('topics must be an array with a topic, several topics or null at each position')
  return {
    ...(address !== undefined && { address: encodeOneOrMore(address, 'address', 20) }),
    ...(topics && {
      topics: topics.map((topic) => (topic === null ? null : encodeOneOrMore(topic, 'topics', 32))),
    }),
  }
}
