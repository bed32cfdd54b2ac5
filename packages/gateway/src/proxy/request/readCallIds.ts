import { isUtf8 } from 'node:buffer'
import { getMember, scanItems, skipSpace } from '../../lib/json/scanMembers.ts'

/** An id without escapes, as every client writes it. Others are not repeated, because the text may not be JSON. */
const plainId = new RegExp(String.raw`^(?:null|-?(?:0|[1-9]\d*)(?:\.\d+)?|"[^"\\\u0000-\u001f]*")$`)
const maxMembers = 64
/** A message with more calls than this gets one error, because an error is much longer than the shortest call. */
const maxIds = 10_000

/**
 * Reads the ids in a message that is rejected before it is parsed: it is too deep, has too many calls, or there is no room for it. Its caller matches the
 * rejection by them.
 * @returns The source text of the id, or of one id for each call of a batch; `null` in place of an id that cannot be read.
 */
export const readCallIds = (body: Buffer): string | readonly string[] => {
  if (!isUtf8(body)) return 'null'
  const text = body.toString('utf8')
  const start = skipSpace(text, 0)
  if (text[start] !== '[') return readId(text, start)
  const scanned = scanItems(text, start, maxIds)
  if (scanned === undefined || scanned.count === 0 || scanned.count > maxIds) return 'null'
  return scanned.items.map((span) => readId(text, span.start))
}

const readId = (text: string, at: number): string => {
  const id = getMember(text, 'id', at, maxMembers)
  return id !== undefined && plainId.test(id) ? id : 'null'
}
