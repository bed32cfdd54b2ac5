import { isUtf8 } from 'node:buffer'
import { describeUnknownMember } from '../../auth/allowList/findShapeProblem.ts'
import { foldName } from '../../lib/json/foldName.ts'
import { checkJson } from '../../lib/json/checkJson.ts'
import { scanItems, scanMembers, skipSpace } from '../../lib/json/scanMembers.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'
import { readPlainRequest } from './readPlainRequest.ts'

/** The contents of a body. */
export type ParsedBody =
  | { readonly kind: 'single'; readonly call: ParsedCall | InvalidCall }
  | { readonly kind: 'batch'; readonly calls: readonly (ParsedCall | InvalidCall)[] }
  | { readonly kind: 'batchTooLarge'; readonly count: number }
  | { readonly kind: 'emptyBatch' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'tooDeep' }

const invalid: InvalidCall = Object.freeze({ valid: false, id: 'null' })

/** Source: JSON-RPC 2.0 section 4. */
const requestMembers: readonly string[] = ['jsonrpc', 'method', 'params', 'id']
/** Members of one request. JSON-RPC defines four; some clients add more. */
const maxMembers = 64

/**
 * Parses the request at `at` in a text that is known to be JSON. Its parts stay source text: id `1.0` stays `1.0`, and a number in the params that no
 * double can hold keeps its digits. A repeated member name is rejected, because two parsers could pick different ones, and the node could run a
 * call other than the one that was checked. A request with more than 64 members is rejected too.
 * @see JSON-RPC 2.0 section 4
 */
export const parseRequest = (text: string, at = 0): ParsedCall | InvalidCall => {
  const scanned = scanMembers(text, at, maxMembers)
  if (scanned === undefined) return invalid
  const { members } = scanned
  const seen = new Set<string>()
  let version = ''
  let id: string | undefined
  let methodText: string | undefined
  let params: string | undefined
  let unknownName: string | undefined
  let problem: string | undefined
  let isAmbiguous = false
  for (const { name, start, end } of members) {
    isAmbiguous ||= seen.has(name)
    // Two ids are none.
    if (name === 'id' && seen.has(name)) return invalid
    seen.add(name)
    if (name === 'jsonrpc') version = text.slice(start, end)
    else if (name === 'id') id = text.slice(start, end)
    else if (name === 'method') methodText = text.slice(start, end)
    else if (name === 'params') params = text.slice(start, end)
    else if (requestMembers.includes(foldName(name))) {
      // Go matches names without regard to case, so a node in Go would see another request.
      problem = describeUnknownMember(name, requestMembers, 'the request')
    } else unknownName ??= name
  }
  if (id !== undefined && !/^["n\-0-9]/.test(id)) return invalid
  const method = methodText === undefined ? undefined : parseString(methodText)
  const isVersion2 = version === '"2.0"' || parseString(version) === '2.0'
  if (problem !== undefined || isAmbiguous || !isVersion2 || method === undefined)
    return { valid: false, id: id ?? 'null', ...(isAmbiguous || problem === undefined ? {} : { problem }) }
  // Some clients send it for a call without params.
  if (params === 'null') params = undefined
  const paramsFit = params === undefined || params[0] === '[' || params[0] === '{'
  return { valid: true, id, method, params, paramsFit, unknownName }
}

const parseString = (source: string): string | undefined => {
  if (source[0] !== '"') return undefined
  if (!source.includes('\\')) return source.slice(1, -1)
  const value: unknown = JSON.parse(source)
  return typeof value === 'string' ? value : undefined
}

/** A regular expression needs memory in proportion to what it matches. */
const maxPlainBytes = 256 * 1024

/** Parses a body in the compact form that common clients send; returns `undefined` for any other. */
const parsePlain = (text: string, maxCalls: number): ParsedBody | undefined => {
  if (text[0] !== '[') {
    const single = readPlainRequest(text, 0)
    return single?.end === text.length ? { kind: 'single', call: single.call } : undefined
  }
  const calls: ParsedCall[] = []
  for (let at = 0; calls.length < maxCalls;) {
    const found = readPlainRequest(text, at + 1)
    if (found === undefined) return undefined
    calls.push(found.call)
    at = found.end
    if (text[at] === ',') continue
    return text[at] === ']' && at + 1 === text.length ? { kind: 'batch', calls } : undefined
  }
  return undefined
}

/**
 * Parses the body of a request in time proportional to its length. It creates no values: it finds the parts in the source text.
 * @param body - The bytes. They are malformed if they are not UTF-8 (RFC 8259 section 8.1).
 * @param maxCalls - The largest accepted batch.
 * @param maxDepth - How deeply arrays and objects may be nested, from 8 to 1,000. @default 64
 */
export const parseBody = (body: Buffer, maxCalls: number, maxDepth = 64): ParsedBody => {
  if (!isUtf8(body)) return { kind: 'malformed' }
  const text = body.toString('utf8')
  const plain = body.length > maxPlainBytes ? undefined : parsePlain(text, maxCalls)
  if (plain !== undefined) return plain
  const checked = checkJson(body, maxDepth)
  if (checked !== 'json') return { kind: checked }
  const start = skipSpace(text, 0)
  if (text[start] !== '[') return { kind: 'single', call: parseRequest(text, start) }
  const scanned = scanItems(text, start, maxCalls)
  if (scanned === undefined) return { kind: 'malformed' }
  if (scanned.count === 0) return { kind: 'emptyBatch' }
  if (scanned.count > maxCalls) return { kind: 'batchTooLarge', count: scanned.count }
  return { kind: 'batch', calls: scanned.items.map((span) => parseRequest(text, span.start)) }
}
