import { isUtf8 } from 'node:buffer'
import { scanMembers, skipSpace } from '../json/scanMembers.ts'

/** A node's answer to one call: which member it was, and its value's bytes as they came. */
export interface NodeAnswer {
  readonly member: 'result' | 'error'
  readonly value: Buffer
}

/** Answers up to this size are parsed to prove them well formed; larger ones are scanned, which makes no values of them. */
const parsedUpTo = 64 * 1024

/**
 * Reads a node's answer with distrust: it must be one JSON object with our id and a result or an error object.
 * @param body - The bytes as they came.
 * @param wireId - The id that was sent. An error with id null is taken too: a node that could not read the id must answer so.
 * @returns The value's bytes, or `undefined` where the answer cannot be believed.
 * @see JSON-RPC 2.0 section 5
 */
export const readAnswer = (body: Buffer, wireId: string): NodeAnswer | undefined => {
  if (!isUtf8(body)) return undefined
  // One character per byte, so that places in the text are places in the bytes. JSON's own characters are all ASCII.
  const text = body.toString('latin1')
  if (body.length <= parsedUpTo) {
    try {
      JSON.parse(text)
    } catch {
      return undefined
    }
  }
  const scanned = scanMembers(text)
  if (scanned === undefined || skipSpace(text, scanned.end) !== text.length) return undefined
  return pickAnswer(body, { text, members: scanned.members, wireId })
}

const pickAnswer = (
  body: Buffer,
  {
    text,
    members,
    wireId,
  }: { text: string; members: readonly { name: string; start: number; end: number }[]; wireId: string },
): NodeAnswer | undefined => {
  let id: string | undefined
  let result: NodeAnswer | undefined
  let error: NodeAnswer | undefined
  for (const { name, start, end } of members) {
    if (name === 'id') {
      if (id !== undefined) return undefined
      id = text.slice(start, end)
    } else if (name === 'result') {
      if (result !== undefined) return undefined
      result = { member: 'result', value: body.subarray(start, end) }
    } else if (name === 'error' && text.slice(start, end) !== 'null') {
      if (error !== undefined || text[start] !== '{') return undefined
      error = { member: 'error', value: body.subarray(start, end) }
    }
  }
  if (id !== wireId && !(id === 'null' && error !== undefined)) return undefined
  return error ?? result
}
