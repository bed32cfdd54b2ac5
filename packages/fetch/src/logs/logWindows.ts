import { isKeyrailError, KeyrailError } from '@keyrail/core'
import type { Log } from '../decode/log.ts'
import { parseRangeHint } from './parseRangeHint.ts'
import type { RangeHint } from './parseRangeHint.ts'
import type { WindowSize } from './windowSize.ts'

/** A part of the chain that is read at once. */
export interface BlockSpan {
  readonly from: number
  readonly to: number
  /** Read only once everything before it was taken. */
  readonly alone: boolean
}

/** Reads windows ahead of who takes them, in order. */
export interface LogWindows {
  /** The next window in the order of the chain, once it is read; undefined at the end. */
  readonly next: () => Promise<(BlockSpan & { readonly logs: readonly Log[] }) | undefined>
}

/** Options of {@link createLogWindows}. */
export interface LogWindowsOptions {
  /** What to read, in order. */
  readonly spans: readonly BlockSpan[]
  readonly read: (span: BlockSpan) => Promise<readonly Log[]>
  readonly size: WindowSize
  /** How many windows are read at a time. */
  readonly concurrency: number
}

interface Window {
  from: number
  to: number
  readonly alone: boolean
  /** Set once it is being read; resolves when that has ended, well or not. */
  settled?: Promise<void>
  logs?: readonly Log[]
  failure?: { readonly error: unknown }
}

/** A window that timed out more often, at a quarter of its blocks each time, is not too heavy: nothing answers. */
const mostTimeouts = 3

/**
 * Cuts spans of blocks into windows and reads several at a time: at most `concurrency` under way, at most twice that under way or waiting
 * to be taken, so that whoever takes slowly does not make it read the whole chain. Until one was ever served only one is tried.
 * A window that is refused for its size is cut where it stands, and what is left of it follows it.
 *
 * @param options - What to read, how and how fast.
 */
export function createLogWindows({ spans, read, size, concurrency }: LogWindowsOptions): LogWindows {
  const windows: Window[] = spans.map((span) => ({ ...span }))
  let underWay = 0
  let started = 0

  const cut = (window: Window, blocks: number): void => {
    if (window.to - window.from < blocks) return
    const from = window.from + blocks
    windows.splice(windows.indexOf(window) + 1, 0, { from, to: window.to, alone: window.alone })
    window.to = from - 1
  }

  const readWhole = async (window: Window): Promise<void> => {
    try {
      for (let refusals = 0, timeouts = 0; ;) {
        const blocks = window.to - window.from + 1
        try {
          const logs = await read(window)
          size.succeeded(blocks, logs.length)
          window.logs = logs
          return
        } catch (error) {
          if (isKeyrailError(error, 'timeout') && ++timeouts > mostTimeouts) throw error
          const { span, hint } = judge(error, window, refusals++)
          size.rejected(blocks, span, hint)
          cut(window, size.current())
        }
      }
    } catch (error) {
      window.failure = { error }
    } finally {
      underWay--
      fill()
    }
  }

  const fill = (): void => {
    // What is cut off goes behind the window, and is met next.
    for (let index = 0; index < windows.length; index++) {
      const window = windows[index] as Window
      // It will end the iteration: nothing behind it is wanted.
      if (window.failure) return
      if (window.settled) continue
      if (underWay >= (size.measured() ? concurrency : 1) || started >= concurrency * 2) return
      if (window.alone && index > 0) return
      cut(window, size.current())
      underWay++
      started++
      window.settled = readWhole(window)
    }
  }

  return {
    next: async () => {
      fill()
      const [window] = windows
      if (!window) return undefined
      await window.settled
      if (window.failure) throw window.failure.error
      windows.shift()
      started--
      fill()
      return window as BlockSpan & { readonly logs: readonly Log[] }
    },
  }
}

/** How many blocks would be taken in place of those refused (NaN: not said); throws where a smaller window is no mend. */
const judge = (error: unknown, window: BlockSpan, refusals: number): { span: number; hint?: RangeHint } => {
  const { from, to } = window
  const blocks = to - from + 1
  if (!isKeyrailError(error)) throw error
  if (error.kind === 'timeout' && (error.method ?? 'eth_getLogs') === 'eth_getLogs') {
    if (blocks === 1) throw error
    return { span: Math.floor(blocks / 4) }
  }
  if (error.kind !== 'range') throw error
  const hint = parseRangeHint(error.rpcError ?? error)
  if (hint.tooManyAddresses || blocks === 1) {
    const message = hint.tooManyAddresses
      ? 'the node refuses so many addresses at once: iterate over fewer'
      : `block ${from} alone has more logs than the node gives in one answer: narrow address or topics`
    throw new KeyrailError(`${message}. It said: ${error.rpcError?.message ?? error.message}`, { ...error })
  }
  const { fromBlock = NaN, toBlock = NaN, maxBlocks = NaN } = hint
  // Of a range that starts elsewhere, only the length can be meant.
  const suggested = fromBlock <= from && toBlock >= from ? toBlock - from + 1 : toBlock - fromBlock + 1
  const spans = [suggested, maxBlocks].filter((span) => span > 0 && span < blocks)
  // What it suggested may itself be too much: a second refusal halves at least.
  if (refusals > 0) spans.push(blocks / 2)
  return { span: spans.length > 0 ? Math.min(...spans) : NaN, hint }
}
