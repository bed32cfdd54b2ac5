import { foldName } from './hasAmbiguousName.ts'
import { debugMethods, traceMethods } from './methodNames.ts'

/**
 * The tracers that nodes have built in, by name. A node takes any other text for a program: geth and reth run it as JavaScript,
 * Nethermind also as the name of a file.
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

const tracing: ReadonlySet<string> = new Set([...debugMethods, ...traceMethods])

/** Whether some node reads a tracer from a method's params: all of `debug_`, and in Erigon all of `trace_`. */
export const mayTakeTracer = (method: string): boolean => tracing.has(method)

/** `muxTracer` runs several tracers: their names are the member names of its options. */
const muxTracer = 'muxTracer'

/**
 * Looks for a tracer that is not built in, anywhere in a method's params: nodes differ in the place. Member names are folded as Go folds
 * them.
 * @param params - Params, parsed. Their text must be known to hold no ambiguous name (`hasAmbiguousName`).
 * @returns The tracer as it is written, or `undefined` where all tracers are built in. Keeps its own stack, so depth costs no calls.
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
    let runsSeveral = false
    for (const [name, inner] of Object.entries(value)) {
      rest.push(inner)
      const folded = foldName(name)
      if (folded === 'tracerconfig') options = inner
      if (folded !== 'tracer' || inner === null) continue
      if (typeof inner !== 'string' || !builtInTracers.has(inner)) return writtenAs(inner)
      runsSeveral = inner === muxTracer
    }
    const custom = runsSeveral ? findCustomIn(options) : undefined
    if (custom !== undefined) return custom
  }
  return undefined
}

/** The same for the options of a `muxTracer`, which may name another one. */
const findCustomIn = (muxOptions: unknown): string | undefined => {
  for (let options = [muxOptions]; options.length > 0;) {
    const found: unknown[] = []
    for (const one of options) {
      if (one === undefined || one === null) continue
      // A list, which no node takes, has its indices for names.
      if (typeof one !== 'object') return writtenAs(one)
      for (const [name, inner] of Object.entries(one)) {
        if (!builtInTracers.has(name)) return name
        if (name === muxTracer) found.push(inner)
      }
    }
    options = found
  }
  return undefined
}

const writtenAs = (tracer: unknown): string => (typeof tracer === 'string' ? tracer : JSON.stringify(tracer))
