import { createJsonScanner } from '../../lib/json/createJsonScanner.ts'
import type { FlowControl, ResponseConsumer } from './postRequest.ts'

/** The destination of a streamed result. */
export interface StreamSink {
  /** @returns False to pause the stream until `resume`. */
  readonly write: (chunk: Buffer) => boolean
  /** The result is complete, and the response around it is valid. */
  readonly end: () => void
  /** The stream broke off, or the response is invalid: the part that was written must not look like a complete result. */
  readonly fail: () => void
}

/** How a stream ended: the sink got the complete result, the node broke off, or the gateway stopped it. */
export type StreamEnd = 'complete' | 'broken' | 'stopped'

/** A result that is streamed because it is too large to buffer. */
export interface ResponseStream {
  /** Writes the result to a sink. Call this once, and as soon as you get the stream: a stream that is not started then is stopped. */
  readonly start: (sink: StreamSink) => void
  /** Continues after a write that returned false. */
  readonly resume: () => void
  readonly stop: () => void
  readonly started: () => boolean
  /** How many bytes of the result the sink got. */
  readonly bytes: () => number
  /** Sets the listener for the end. It is called once, before the sink's `end` or `fail`. */
  readonly onEnd: (listener: (end: StreamEnd) => void) => void
}

/** Joins a short range of several buffers into a text. */
const toText = (chunks: readonly Buffer[], from: number, to: number): string => {
  let text = ''
  let before = 0
  for (const chunk of chunks) {
    if (before + chunk.length > from && before < to)
      text += chunk.toString('latin1', Math.max(from - before, 0), Math.min(to - before, chunk.length))
    before += chunk.length
  }
  return text
}

const none = -1
/** Every wire id is shorter. */
const maxIdLength = 16

/** Finds the id and the result in a response while it arrives. */
const createResponseScan = () => {
  /** The positions of their source texts. */
  const found = { idFrom: none, idTo: none, resultFrom: none, resultTo: none }
  let chunk: Buffer | undefined
  let before = 0
  let name: string | undefined
  let isInvalid = false
  const scanner = createJsonScanner({
    name: (next) => (name = next),
    start: (at) => {
      if (name === 'id') {
        isInvalid ||= found.idFrom !== none
        found.idFrom = at
      } else if (name === 'result') {
        isInvalid ||= found.resultFrom !== none
        found.resultFrom = at
      } else if (name === 'error') {
        // Beside a result an error must be null.
        isInvalid ||= chunk?.[at - before] !== 110
      }
    },
    end: (at) => {
      if (name === 'id') found.idTo = at
      else if (name === 'result') found.resultTo = at
    },
  })
  return {
    found,
    /** @returns Whether the response is valid so far. */
    push: (next: Buffer): boolean => {
      chunk = next
      const isValid = scanner.push(next) && !isInvalid
      before += next.length
      return isValid
    },
    /** @returns Whether the response is complete and valid. */
    end: scanner.end,
  }
}

type ResponseScan = ReturnType<typeof createResponseScan>

/** Where a stream comes from. */
interface StreamSource {
  readonly head: readonly Buffer[]
  readonly flow: FlowControl
  readonly idleMs: number
  /** Checks the source text of the result as it arrives. @default it is not checked */
  readonly check?: ((part: string) => boolean) | undefined
  /** Called if the check fails after the stream was opened. */
  readonly onWrong?: (() => void) | undefined
}

/**
 * Opens a stream if the head of a response shows that it has this call's id and that its result has started. The rest must be valid as for
 * `readResponse`: one JSON object, the id and the result once, no error.
 * @param wireId - The id that was sent.
 * @param source.check - If it fails for the head, there is no stream. If it fails later, the stream breaks off.
 * @param source.idleMs - How long the upstream may send nothing, in milliseconds. Time in which the sink is paused does not count.
 * @returns The stream and the consumer that feeds it, or `undefined` if the head does not show enough: then buffer the whole response.
 */
export const openResponseStream = (
  wireId: string,
  source: StreamSource,
): { stream: ResponseStream; consumer: ResponseConsumer } | undefined => {
  const { head, check } = source
  const scan = createResponseScan()
  const { found } = scan
  if (!head.every(scan.push) || found.idTo === none || found.idTo - found.idFrom > maxIdLength) return undefined
  const hasStarted = found.resultFrom !== none && found.resultTo === none
  if (!hasStarted || toText(head, found.idFrom, found.idTo) !== wireId) return undefined
  return check?.(toText(head, found.resultFrom, Infinity)) === false ? undefined : createStream(scan, source)
}

const createStream = (
  scan: ResponseScan,
  { head, flow, idleMs, check, onWrong }: StreamSource,
): { stream: ResponseStream; consumer: ResponseConsumer } => {
  const pending: Buffer[] = []
  let offset = 0
  let written = 0
  /** Adds the part of a chunk that belongs to the result. @returns That part, if there is one. */
  const addResult = (next: Buffer): Buffer | undefined => {
    const { resultFrom, resultTo } = scan.found
    const start = Math.max(resultFrom - offset, 0)
    const end = resultTo === none ? next.length : Math.min(resultTo - offset, next.length)
    const part = start >= end ? undefined : start === 0 && end === next.length ? next : next.subarray(start, end)
    if (part !== undefined) pending.push(part)
    offset += next.length
    return part
  }
  head.forEach(addResult)

  let sink: StreamSink | undefined
  let paused = false
  let received = false
  let over = false
  let timer: NodeJS.Timeout | undefined
  let endListener: ((end: StreamEnd) => void) | undefined
  const finish = (end: StreamEnd): void => {
    over = true
    pending.length = 0
    clearTimeout(timer)
    endListener?.(end)
  }
  const fail = (): void => {
    if (over) return
    finish('broken')
    flow.abort()
    sink?.fail()
  }
  const idle = (): void => {
    if (paused) timer?.refresh()
    else fail()
  }
  const pump = (): void => {
    while (!paused && !over) {
      const next = pending.shift()
      if (next === undefined) break
      written += next.length
      if (sink?.write(next) === false) paused = true
    }
    if (over || paused) return
    if (received) {
      finish('complete')
      sink?.end()
    } else {
      timer?.refresh()
      flow.resume()
    }
  }
  return {
    stream: {
      start: (target) => {
        sink = target
        if (over) {
          target.fail()
          return
        }
        timer = setTimeout(idle, idleMs)
        pump()
      },
      resume: () => {
        paused = false
        pump()
      },
      stop: () => {
        if (over) return
        finish('stopped')
        flow.abort()
      },
      started: () => sink !== undefined,
      bytes: () => written,
      onEnd: (listener) => void (endListener = listener),
    },
    consumer: {
      data: (next) => {
        if (over) return
        if (!scan.push(next)) {
          fail()
          return
        }
        const part = addResult(next)
        if (part !== undefined && check?.(part.toString('latin1')) === false) {
          onWrong?.()
          fail()
          return
        }
        if (paused || sink === undefined) flow.pause()
        else pump()
      },
      end: () => {
        if (over) return
        if (!scan.end()) {
          fail()
          return
        }
        received = true
        if (!paused && sink !== undefined) pump()
      },
      fail,
    },
  }
}
