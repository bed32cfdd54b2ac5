import type { RpcCall, NoRequest } from './rpcCall.ts'
import { isUtf8 } from 'node:buffer'
import { describeUnknownMember } from '../../auth/allowList/findShapeProblem.ts'
import { foldName } from '../../auth/allowList/hasAmbiguousName.ts'
import { checkJson } from '../../lib/json/checkJson.ts'
import { scanItems, scanMembers, skipSpace } from '../../lib/json/scanMembers.ts'
import { readPlainRequest } from './readPlainRequest.ts'

/** What a body turned out to be. */
export type ParsedBody =
  | { readonly kind: 'single'; readonly item: RpcCall | NoRequest }
  | { readonly kind: 'batch'; readonly items: readonly (RpcCall | NoRequest)[] }
  | { readonly kind: 'batchTooLarge'; readonly count: number }
  | { readonly kind: 'emptyBatch' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'tooDeep' }

const noRequest: NoRequest = Object.freeze({ valid: false })

/** Source: JSON-RPC 2.0 section 4. */
const requestMembers: readonly string[] = ['jsonrpc', 'method', 'params', 'id']
/** Members of one request. JSON-RPC has four; the rest is room for those that some clients add. */
const maxMembers = 64

/**
 * Reads the request that begins at `at` of a text known to be JSON. Its parts are taken as source text: id `1.0` stays `1.0`,
 * and a number in params that no double can hold stays whole. A repeated member name is rejected, since two readers could pick
 * different ones of them and what was checked would not be what is run. So is a request with more than 64 members.
 * @see JSON-RPC 2.0 section 4
 */
export const parseRequest = (text: string, at = 0): RpcCall | NoRequest => {
  const scanned = scanMembers(text, at, maxMembers)
  if (scanned === undefined) return noRequest
  const { members } = scanned
  const seen = new Set<string>()
  let version = ''
  let id: string | undefined
  let methodText: string | undefined
  let params: string | undefined
  let unknownName: string | undefined
  for (const { name, start, end } of members) {
    if (seen.has(name)) return noRequest
    seen.add(name)
    if (name === 'jsonrpc') version = text.slice(start, end)
    else if (name === 'id') id = text.slice(start, end)
    else if (name === 'method') methodText = text.slice(start, end)
    else if (name === 'params') params = text.slice(start, end)
    else if (requestMembers.includes(foldName(name))) {
      // Go reads it as that member, so a program in Go and this one would see different requests.
      return { valid: false, problem: describeUnknownMember(name, requestMembers, 'the request') }
    } else unknownName ??= name
  }
  if (version !== '"2.0"' && stringOf(version) !== '2.0') return noRequest
  if (id !== undefined && !/^["n\-0-9]/.test(id)) return noRequest
  const method = methodText === undefined ? undefined : stringOf(methodText)
  if (method === undefined) return noRequest
  const paramsFit = params === undefined || params[0] === '[' || params[0] === '{'
  return { valid: true, id, method, params, paramsFit, unknownName }
}

const stringOf = (source: string): string | undefined => {
  if (source[0] !== '"') return undefined
  if (!source.includes('\\')) return source.slice(1, -1)
  const value: unknown = JSON.parse(source)
  return typeof value === 'string' ? value : undefined
}

/** A pattern takes memory by the length of what it matches. */
const longestPlain = 256 * 1024

/** A body that is written as plainly as can be; `undefined` for all else. */
const parsePlain = (text: string, maxItems: number): ParsedBody | undefined => {
  if (text[0] !== '[') {
    const single = readPlainRequest(text, 0)
    return single?.end === text.length ? { kind: 'single', item: single.call } : undefined
  }
  const items: RpcCall[] = []
  for (let at = 0; items.length < maxItems;) {
    const found = readPlainRequest(text, at + 1)
    if (found === undefined) return undefined
    items.push(found.call)
    at = found.end
    if (text[at] === ',') continue
    return text[at] === ']' && at + 1 === text.length ? { kind: 'batch', items } : undefined
  }
  return undefined
}

/**
 * Reads a request's body in time that grows with its length alone: no value is made of it, its parts are found in the source.
 * @param body - The bytes as they came; what is not UTF-8 is malformed (RFC 8259 section 8.1).
 * @param maxItems - The largest batch taken.
 * @param maxDepth - How many arrays and objects may be nested in each other, from 8 to 1,000. @default 64
 */
export const parseBody = (body: Buffer, maxItems: number, maxDepth = 64): ParsedBody => {
  if (!isUtf8(body)) return { kind: 'malformed' }
  const text = body.toString('utf8')
  const plain = body.length > longestPlain ? undefined : parsePlain(text, maxItems)
  if (plain !== undefined) return plain
  const checked = checkJson(body, maxDepth)
  if (checked !== 'json') return { kind: checked }
  const start = skipSpace(text, 0)
  if (text[start] !== '[') return { kind: 'single', item: parseRequest(text, start) }
  const scanned = scanItems(text, start, maxItems)
  if (scanned === undefined) return { kind: 'malformed' }
  if (scanned.count === 0) return { kind: 'emptyBatch' }
  if (scanned.count > maxItems) return { kind: 'batchTooLarge', count: scanned.count }
  return { kind: 'batch', items: scanned.items.map((span) => parseRequest(text, span.start)) }
}
