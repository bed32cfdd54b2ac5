import { isUtf8 } from 'node:buffer'
import { isJson } from '../../lib/json/createJsonScanner.ts'
import { scanItems, scanMembers, skipSpace } from '../../lib/json/scanMembers.ts'

/** A node's response to one call: its result or error, byte for byte, or as a text if it is all ASCII. */
export interface NodeResponse {
  readonly member: 'result' | 'error'
  readonly value: Buffer | string
  /** Where the service had it; `undefined` if a node was called. */
  readonly cachedIn?: 'memory' | 'store'
  /** How many independent nodes sent it, and the block in place of the call's tag; `undefined` if it is not a confirmed read. */
  readonly confirmed?: { readonly nodes: number; readonly block: number | undefined }
}

/** The validity of a smaller response is checked by `JSON.parse`; a larger one is scanned, which creates no values. */
const maxParsedBytes = 64 * 1024

/** Decodes a response if it is valid JSON, one character for each byte, so that positions are the same in both. JSON's syntax is all ASCII. */
const toValidText = (body: Buffer): string | undefined => {
  if (body.length > maxParsedBytes) return isJson(body) ? body.toString('latin1') : undefined
  if (!isUtf8(body)) return undefined
  const text = body.toString('latin1')
  try {
    JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}

/** Statuses about the gateway's own access to the node, which are not a response to the call. */
const accessStatuses: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 429])

/** Whether a response with this HTTP status can be a response to the call: 2xx, and most 4xx, with which some nodes send RPC errors. */
export const isResponseStatus = (status: number): boolean =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500 && !accessStatuses.has(status))

interface ResponseWithId {
  readonly id: string
  readonly response: NodeResponse
}

/** Reads the response at `at` if it has an id and a result or an error object, each once. */
const readAt = (body: Buffer, text: string, at: number): (ResponseWithId & { readonly end: number }) | undefined => {
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
  const response = error ?? result
  return id === undefined || response === undefined ? undefined : { id, response, end: scanned.end }
}

/** A result that is valid JSON by its shape, as most results of cheap reads are. */
const plainResult = /(?:"[ !#-[\]-~]*"|null|true|false)\}/y
/** The memory of a pattern grows with the length of its match. */
const maxPlainBytes = 256 * 1024

/**
 * Reads a response of the most common form in a third of the time. The result is the same as that of `readResponse`.
 * @returns `undefined` for every other response, valid or not.
 */
const readPlain = (text: string, wireId: string): NodeResponse | undefined => {
  const response = readPlainAt(text, 0, wireId)
  return response !== undefined && plainResult.lastIndex === text.length ? response : undefined
}

/** Reads a response of the most common form at `at`. `plainResult.lastIndex` is its end then. */
const readPlainAt = (text: string, at: number, wireId: string | number): NodeResponse | undefined => {
  const head = `{"jsonrpc":"2.0","id":${wireId},"result":`
  if (!text.startsWith(head, at)) return undefined
  plainResult.lastIndex = at + head.length
  if (!plainResult.test(text)) return undefined
  return { member: 'result', value: text.slice(at + head.length, plainResult.lastIndex - 1) }
}

/**
 * Reads the response to a batch if it has the most common form and the order of the calls, as most have.
 * @param firstId - The wire id of the first call. The ids of the others follow.
 * @returns `undefined` for every other response, valid or not.
 */
export const readPlainBatch = (body: Buffer, firstId: number, count: number): readonly NodeResponse[] | undefined => {
  if (body.length > maxPlainBytes || body[0] !== 91) return undefined
  const text = body.toString('latin1')
  const responses: NodeResponse[] = []
  let at = 0
  while (responses.length < count) {
    const response = readPlainAt(text, at + 1, firstId + responses.length)
    if (response === undefined) return undefined
    responses.push(response)
    at = plainResult.lastIndex
    if (text[at] !== (responses.length === count ? ']' : ',')) return undefined
  }
  return at + 1 === text.length ? responses : undefined
}

/**
 * Reads a node's response strictly: it must be one JSON object with the id of the call and a result or an error object.
 * @param wireId - The id that was sent. An error with id null is valid too: a node that could not read the id must send it.
 * @returns The response, or `undefined` if it is invalid.
 * @see JSON-RPC 2.0 section 5
 */
export const readResponse = (body: Buffer, wireId: string): NodeResponse | undefined => {
  const quick = body.length > maxPlainBytes ? undefined : readPlain(body.toString('latin1'), wireId)
  if (quick !== undefined) return quick
  const text = toValidText(body)
  const found = text === undefined ? undefined : readAt(body, text, 0)
  if (text === undefined || found === undefined || skipSpace(text, found.end) !== text.length) return undefined
  const hasId = found.id === wireId || (found.id === 'null' && found.response.member === 'error')
  return hasId ? found.response : undefined
}

/**
 * Reads a node's response to a batch.
 * @returns The responses by id, without those whose id repeats; `undefined` if the body is not an array.
 * @see JSON-RPC 2.0 section 6
 */
export const readBatchResponse = (body: Buffer): ReadonlyMap<string, NodeResponse> | undefined => {
  const text = toValidText(body)
  const scanned = text === undefined ? undefined : scanItems(text)
  if (text === undefined || scanned === undefined || skipSpace(text, scanned.end) !== text.length) return undefined
  const responses = new Map<string, NodeResponse>()
  const repeated = new Set<string>()
  for (const { start } of scanned.items) {
    const found = readAt(body, text, start)
    if (found === undefined) continue
    if (responses.has(found.id)) repeated.add(found.id)
    responses.set(found.id, found.response)
  }
  for (const id of repeated) responses.delete(id)
  return responses
}
