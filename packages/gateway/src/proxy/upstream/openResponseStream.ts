import { createJsonScanner } from '../../lib/json/createJsonScanner.ts'
import type { ResponseFlow, ResponseTaker } from './createUpstream.ts'

/** Where a streamed result goes. */
export interface StreamSink {
  /** @returns False where no more is to come before `resume`. */
  readonly write: (piece: Buffer) => boolean
  /** The result was whole, and the answer around it good. */
  readonly end: () => void
  /** It broke off, or turned out to be no answer: what was written so far must not look like a whole one. */
  readonly fail: () => void
}

/** How a stream ended: the whole result went to the sink, it broke off at the node's end, or nobody wanted the rest. */
export type StreamEnd = 'whole' | 'broken' | 'stopped'

/** A result too large to keep, on its way. */
export interface ResponseStream {
  /** Lets the result go to a sink; once, and at once: a stream that nobody begins to read when it is given is stopped. */
  readonly start: (sink: StreamSink) => void
  /** Goes on after a write that said to wait. */
  readonly resume: () => void
  readonly stop: () => void
  readonly started: () => boolean
  /** Says who is told how it ends: once, and before its sink is. */
  readonly whenOver: (told: (end: StreamEnd) => void) => void
}

/** Bytes of several buffers as one text, for something short. */
const textOf = (chunks: readonly Buffer[], from: number, to: number): string => {
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
const longestId = 16

/**
 * Opens a stream where the head of an answer tells that it is the answer to this call, and that its result is in flight. The rest
 * is held to what `readResponse` holds an answer to: one JSON object, the id and the result once, no error.
 * @param wireId - The id that was sent.
 * @param options.idleMs - How long the upstream may send nothing, in milliseconds; time in which the sink held it back does not count.
 * @returns The stream and what feeds it, or `undefined` where the head does not tell enough: then the answer is to be kept whole.
 */
export const openResponseStream = (
  wireId: string,
  options: { head: readonly Buffer[]; flow: ResponseFlow; idleMs: number },
): { stream: ResponseStream; taker: ResponseTaker } | undefined => {
  const { head, flow, idleMs } = options
  let chunk: Buffer | undefined
  let before = 0
  let name: string | undefined
  let idFrom = none
  let idTo = none
  let from = none
  let to = none
  let doubled = false
  const scanner = createJsonScanner({
    name: (given) => (name = given),
    start: (place) => {
      if (name === 'id') {
        doubled ||= idFrom !== none
        idFrom = place
      } else if (name === 'result') {
        doubled ||= from !== none
        from = place
      } else if (name === 'error') {
        // Beside a result an error can be nothing but null.
        doubled ||= chunk?.[place - before] !== 110
      }
    },
    end: (place) => {
      if (name === 'id') idTo = place
      else if (name === 'result') to = place
    },
  })
  const scan = (next: Buffer): boolean => {
    chunk = next
    const good = scanner.push(next) && !doubled
    before += next.length
    return good
  }
  if (!head.every(scan) || idTo === none || idTo - idFrom > longestId || from === none || to !== none) return undefined
  if (textOf(head, idFrom, idTo) !== wireId) return undefined

  const waiting: Buffer[] = []
  let place = 0
  /** Keeps what of a chunk is of the result. */
  const keep = (piece: Buffer): void => {
    const start = Math.max(from - place, 0)
    const end = to === none ? piece.length : Math.min(to - place, piece.length)
    if (start < end) waiting.push(start === 0 && end === piece.length ? piece : piece.subarray(start, end))
    place += piece.length
  }
  head.forEach(keep)

  let sink: StreamSink | undefined
  let held = false
  let whole = false
  let over = false
  let timer: NodeJS.Timeout | undefined
  let told: ((end: StreamEnd) => void) | undefined
  const finish = (end: StreamEnd): void => {
    over = true
    waiting.length = 0
    clearTimeout(timer)
    told?.(end)
  }
  const fail = (): void => {
    if (over) return
    finish('broken')
    flow.abort()
    sink?.fail()
  }
  const idle = (): void => {
    if (held) timer?.refresh()
    else fail()
  }
  const pump = (): void => {
    while (!held && !over) {
      const piece = waiting.shift()
      if (piece === undefined) break
      if (sink?.write(piece) === false) held = true
    }
    if (over || held) return
    if (whole) {
      finish('whole')
      sink?.end()
    } else {
      timer?.refresh()
      flow.resume()
    }
  }
  return {
    stream: {
      start: (given) => {
        sink = given
        if (over) {
          given.fail()
          return
        }
        timer = setTimeout(idle, idleMs)
        pump()
      },
      resume: () => {
        held = false
        pump()
      },
      stop: () => {
        if (over) return
        finish('stopped')
        flow.abort()
      },
      started: () => sink !== undefined,
      whenOver: (given) => {
        told = given
      },
    },
    taker: {
      data: (next) => {
        if (over) return
        if (!scan(next)) {
          fail()
          return
        }
        keep(next)
        if (held || sink === undefined) flow.pause()
        else pump()
      },
      end: () => {
        if (over) return
        if (!scanner.end()) {
          fail()
          return
        }
        whole = true
        if (!held && sink !== undefined) pump()
      },
      fail,
    },
  }
}
