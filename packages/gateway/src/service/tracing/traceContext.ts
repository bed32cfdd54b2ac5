import type { IncomingHttpHeaders } from 'node:http'

/** The trace that a caller belongs to, by W3C Trace Context. */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** The caller's span: 16 lower-case hex digits. */
  readonly parentId: string
  readonly isSampled: boolean
  /** Data of tracing systems, as it was sent. */
  readonly state: string | undefined
}

/** A higher version than 00 may have more fields. */
const traceparent = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const tracestate = /^[\x20-\x7e]{1,512}$/

/**
 * Parses the trace context of a request.
 * @returns `undefined` if there is none, or if it is malformed.
 * @see https://www.w3.org/TR/trace-context/
 */
export const parseTraceContext = (headers: IncomingHttpHeaders): TraceContext | undefined => {
  const { traceparent: sent, tracestate: state } = headers as Readonly<Record<string, unknown>>
  if (typeof sent !== 'string') return undefined
  const [, version, traceId = '', parentId = '', flags = '', more] = traceparent.exec(sent) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  return {
    traceId,
    parentId,
    isSampled: (parseInt(flags, 16) & 1) === 1,
    state: typeof state === 'string' && tracestate.test(state) ? state : undefined,
  }
}

/** Formats a trace context as request headers. */
export const formatTraceContext = ({
  traceId,
  parentId,
  isSampled,
  state,
}: TraceContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${traceId}-${parentId}-${isSampled ? '01' : '00'}`,
  ...(state === undefined ? {} : { tracestate: state }),
})
