import { isUtf8 } from 'node:buffer'
import { isJson } from '../../lib/json/createJsonScanner.ts'
import { scanItems, scanMembers, skipSpace } from '../../lib/json/scanMembers.ts'

/** A node's answer to one call: which member it was, and its value as it came, in bytes, or as a text where it is all ASCII. */
export interface NodeResponse {
  readonly member: 'result' | 'error'
  readonly value: Buffer | string
}

/** Answers up to this size are parsed to prove them well formed; larger ones are scanned, which makes no values of them. */
const parsedUpTo = 64 * 1024

/** One character per byte, so that places in the text are places in the bytes; JSON's own characters are all ASCII. */
const believedText = (body: Buffer): string | undefined => {
  if (body.length > parsedUpTo) return isJson(body) ? body.toString('latin1') : undefined
  if (!isUtf8(body)) return undefined
  const text = body.toString('latin1')
  try {
    JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}

interface Found {
  readonly id: string
  readonly answer: NodeResponse
}

/** The answer that begins at `at`, where it has an id, and a result or an error object, each once. */
const answerAt = (body: Buffer, text: string, at: number): (Found & { readonly end: number }) | undefined => {
  const scanned = scanMembers(text, at)
  if (scanned === undefined) return undefined
  let id: string | undefined
  let result: NodeResponse | undefined
  let error: NodeResponse | undefined
  for (const { name, start, end } of scanned.members) {
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
  const answer = error ?? result
  return id === undefined || answer === undefined ? undefined : { id, answer, end: scanned.end }
}

/** A result that is JSON by its very shape: most of what nodes answer to light reads. */
const plainResult = /(?:"[ !#-[\]-~]*"|null|true|false)\}/y
/** A pattern takes memory by the length of what it matches. */
const longestPlain = 256 * 1024

/**
 * Reads an answer that is written as plainly as can be, in a third of the time. It gives what `readResponse` gives.
 * @returns `undefined` for all else, good or not.
 */
const readPlain = (text: string, wireId: string): NodeResponse | undefined => {
  const answer = plainAt(text, 0, wireId)
  return answer !== undefined && plainResult.lastIndex === text.length ? answer : undefined
}

/** The plain answer that begins at `at`. `plainResult` then knows where it ends. */
const plainAt = (text: string, at: number, wireId: string | number): NodeResponse | undefined => {
  const head = `{"jsonrpc":"2.0","id":${wireId},"result":`
  if (!text.startsWith(head, at)) return undefined
  plainResult.lastIndex = at + head.length
  if (!plainResult.test(text)) return undefined
  return { member: 'result', value: text.slice(at + head.length, plainResult.lastIndex - 1) }
}

/**
 * Reads an answer to a batch that is written as plainly as can be and has the calls' own order, as most have.
 * @param firstId - The wire id of the first call; each next one is one more.
 * @returns `undefined` for all else, good or not.
 */
export const readPlainBatch = (body: Buffer, firstId: number, count: number): readonly NodeResponse[] | undefined => {
  if (body.length > longestPlain || body[0] !== 91) return undefined
  const text = body.toString('latin1')
  const answers: NodeResponse[] = []
  let at = 0
  while (answers.length < count) {
    const answer = plainAt(text, at + 1, firstId + answers.length)
    if (answer === undefined) return undefined
    answers.push(answer)
    at = plainResult.lastIndex
    if (text[at] !== (answers.length === count ? ']' : ',')) return undefined
  }
  return at + 1 === text.length ? answers : undefined
}

/**
 * Reads a node's answer with distrust: it must be one JSON object with our id and a result or an error object.
 * @param body - The bytes as they came.
 * @param wireId - The id that was sent. An error with id null is taken too: a node that could not read the id must answer so.
 * @returns The answer, or `undefined` where it cannot be believed.
 * @see JSON-RPC 2.0 section 5
 */
export const readResponse = (body: Buffer, wireId: string): NodeResponse | undefined => {
  const quick = body.length > longestPlain ? undefined : readPlain(body.toString('latin1'), wireId)
  if (quick !== undefined) return quick
  const text = believedText(body)
  const found = text === undefined ? undefined : answerAt(body, text, 0)
  if (text === undefined || found === undefined || skipSpace(text, found.end) !== text.length) return undefined
  const ours = found.id === wireId || (found.id === 'null' && found.answer.member === 'error')
  return ours ? found.answer : undefined
}

/**
 * Reads a node's answer to a batch.
 * @returns The answers by id, without those whose id came twice; `undefined` where the body is no array.
 * @see JSON-RPC 2.0 section 6
 */
export const readBatchResponse = (body: Buffer): ReadonlyMap<string, NodeResponse> | undefined => {
  const text = believedText(body)
  const scanned = text === undefined ? undefined : scanItems(text)
  if (text === undefined || scanned === undefined || skipSpace(text, scanned.end) !== text.length) return undefined
  const answers = new Map<string, NodeResponse>()
  const doubled = new Set<string>()
  for (const { start } of scanned.items) {
    const found = answerAt(body, text, start)
    if (found === undefined) continue
    if (answers.has(found.id)) doubled.add(found.id)
    answers.set(found.id, found.answer)
  }
  for (const id of doubled) answers.delete(id)
  return answers
}
