import type { Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'

/** By the content coding. Some nodes compress although the request rules it out. */
const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createUnzip],
  ['x-gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
])
/** More codings than that have no use, and each of them takes memory. */
const maxCodings = 3

/** Gets the decoders for a `content-encoding` header (RFC 9110 section 8.4), the last coding first; none if the body is to be read as it is. */
export const getDecoders = (header: string | string[] | undefined): readonly (() => Transform)[] => {
  const codings = String(header ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const found = codings.map((coding) => decoders.get(coding)).filter((decoder) => decoder !== undefined)
  return found.length === codings.length && found.length <= maxCodings ? found.reverse() : []
}
