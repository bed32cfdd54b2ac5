import type { OfferedMethod } from '../../lib/methods.ts'
import { foldName } from '../../lib/json/foldName.ts'

/**
 * The names of tracers built into nodes. Nodes execute any other text: geth and reth as JavaScript, Nethermind also as the name of a
 * file.
 *
 * Source: execution-apis, `TraceConfig`; geth, eth/tracers; reth, `GethDebugBuiltInTracerType`; Besu, `TracerType`; Nethermind,
 * `GethLikeNativeTracerFactory`; Erigon. The empty name is the opcode logger.
 */
export const builtInTracers: ReadonlySet<string> = new Set([
  '',
  '4byteTracer',
  'bigramTracer',
  'callTracer',
  'erc7562Tracer',
  'evmdisTracer',
  'flatCallTracer',
  'keccak256PreimageTracer',
  'muxTracer',
  'noopTracer',
  'opcountTracer',
  'parityTracer',
  'prestateTracer',
  'supplyTracer',
  'trigramTracer',
  'unigramTracer',
])

/**
 * Whether some node reads a tracer from the params of a method: all `debug_` methods, and with Erigon all `trace_` methods. Of methods that presets or
 * the config add, it is not known.
 */
export const acceptsTracer = (row: OfferedMethod | undefined): boolean =>
  row !== undefined && (row.service === undefined || row.service === 'debug' || row.service === 'trace')

/** `muxTracer` runs several tracers. The member names of its options are their names. */
const muxTracer = 'muxTracer'

/**
 * Finds a tracer that is not built in, anywhere in the params, because nodes differ in its position. Member names are folded as in Go.
 * @param params - Params, parsed. Check their text with `hasAmbiguousName` first.
 * @returns The tracer as sent, or `undefined` if all tracers are built in. Not recursive, so that any depth is safe.
 * @example
 * findCustomTracer(['0x…', { tracer: 'callTracer' }]) // undefined
 * findCustomTracer(['0x…', { Tracer: '{step: function() {}}' }]) // '{step: function() {}}'
 */
export const findCustomTracer = (params: unknown): string | undefined => {
  const rest: unknown[] = [params]
  while (rest.length > 0) {
    const value = rest.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const item of value) rest.push(item)
      continue
    }
    let options: unknown
    let isMux = false
    for (const [name, inner] of Object.entries(value)) {
      rest.push(inner)
      const folded = foldName(name)
      if (folded === 'tracerconfig') options = inner
      if (folded !== 'tracer' || inner === null) continue
      if (typeof inner !== 'string' || !builtInTracers.has(inner)) return toText(inner)
      isMux = inner === muxTracer
    }
    const custom = isMux ? findInMuxOptions(options) : undefined
    if (custom !== undefined) return custom
  }
  return undefined
}

/** Finds a custom tracer in the options of a `muxTracer`, which may be nested. */
const findInMuxOptions = (muxOptions: unknown): string | undefined => {
  for (let options = [muxOptions]; options.length > 0;) {
    const found: unknown[] = []
    for (const one of options) {
      if (one === undefined || one === null) continue
      // For a list, which no node accepts, the names are its indices.
      if (typeof one !== 'object') return toText(one)
      for (const [name, inner] of Object.entries(one)) {
        if (!builtInTracers.has(name)) return name
        if (name === muxTracer) found.push(inner)
      }
    }
    options = found
  }
  return undefined
}

const toText = (tracer: unknown): string => (typeof tracer === 'string' ? tracer : JSON.stringify(tracer))
