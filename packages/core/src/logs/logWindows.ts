import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import { parseRangeHint } from '../failure/parseRangeHint.ts'
import type { RangeHint } from '../failure/parseRangeHint.ts'
import type { BlockSpan } from './blockSpan.ts'
import { skipNullRounds } from './nullRounds.ts'
import type { WindowSize } from './windowSize.ts'

/** Prefetches windows and returns them in order. */
export interface LogWindows<L> {
  /** The next window in chain order, once it is read; undefined at the end. */
  readonly next: () => Promise<(BlockSpan & { readonly logs: readonly L[] }) | undefined>
}

/** Options of {@link createLogWindows}. */
export interface LogWindowsOptions<L> {
  /** The windows to read, in order. */
  readonly spans: readonly BlockSpan[]
  readonly read: (span: BlockSpan) => Promise<readonly L[]>
  readonly size: WindowSize
  /** How many windows to read in parallel. */
  readonly concurrency: number
}

interface Window<L> {
  from: number
  to: number
  readonly exclusive: boolean
  /** Set when the read starts; resolves when it has succeeded or failed. */
  done?: Promise<void>
  logs?: readonly L[]
  failure?: { readonly error: unknown }
}

/** After this many timeouts, each with a quarter of the blocks, the window's size is not the cause. */
const mostTimeouts = 3

/**
 * Splits ranges of blocks into windows and reads several in parallel: at most `concurrency` in flight, and at most twice that in flight or
 * waiting for the consumer, so that a slow consumer does not make it read the whole chain. Until a first request has succeeded it sends one
 * at a time. A window that is rejected for its size is split in place, and the rest of it becomes the next window.
 *
 * @param options - What to read, how, and how many at a time.
 */
export function createLogWindows<L>({ spans, read, size, concurrency }: LogWindowsOptions<L>): LogWindows<L> {
  const windows: Window<L>[] = spans.map((span) => ({ ...span }))
  let active = 0
  let started = 0

  const split = (window: Window<L>, blocks: number): void => {
    if (window.to - window.from < blocks) return
    const from = window.from + blocks
    windows.splice(windows.indexOf(window) + 1, 0, { from, to: window.to, exclusive: window.exclusive })
    window.to = from - 1
  }

  const readWindow = async (window: Window<L>): Promise<void> => {
    try {
      for (let rejections = 0, timeouts = 0; ;) {
        const blocks = window.to - window.from + 1
        try {
          const logs = await skipNullRounds(read)(window)
          size.succeeded(blocks, logs.length)
          window.logs = logs
          return
        } catch (error) {
          if (isKeyrailError(error, 'timeout') && ++timeouts > mostTimeouts) throw error
          const { span, hint } = nextSpan(error, window, rejections++)
          size.rejected(blocks, span, hint)
          split(window, size.current())
        }
      }
    } catch (error) {
      window.failure = { error }
    } finally {
      active--
      fill()
    }
  }

  const fill = (): void => {
    // Splitting inserts the rest behind the window, so the loop reaches it next.
    for (let index = 0; index < windows.length; index++) {
      const window = windows[index] as Window<L>
      // This failure will end the iteration: windows behind it are not needed.
      if (window.failure) return
      if (window.done) continue
      if (active >= (size.measured() ? concurrency : 1) || started >= concurrency * 2) return
      if (window.exclusive && index > 0) return
      split(window, size.current())
      active++
      started++
      window.done = readWindow(window)
    }
  }

  return {
    next: async () => {
      fill()
      const [window] = windows
      if (!window) return undefined
      await window.done
      if (window.failure) throw window.failure.error
      windows.shift()
      started--
      fill()
      return window as BlockSpan & { readonly logs: readonly L[] }
    },
  }
}

/** Returns how many blocks to request after a failure (NaN: the error does not say). Throws the error if a smaller window cannot help. */
const nextSpan = (error: unknown, window: BlockSpan, rejections: number): { span: number; hint?: RangeHint } => {
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
      ? 'the node rejects so many addresses in one call: pass fewer addresses'
      : `block ${from} alone has more logs than the node returns in one response: narrow address or topics`
    throw new KeyrailError(`${message}. The node returned: ${error.rpcError?.message ?? error.message}`, { ...error })
  }
  const { fromBlock = NaN, toBlock = NaN, maxBlocks = NaN } = hint
  // If the suggested range starts at another block, only its length is meaningful.
  const suggested = fromBlock <= from && toBlock >= from ? toBlock - from + 1 : toBlock - fromBlock + 1
  const candidates = [suggested, maxBlocks].filter((span) => span > 0 && span < blocks)
  // The suggestion itself may be too large: after a second rejection, at least halve the window.
  if (rejections > 0) candidates.push(blocks / 2)
  return { span: candidates.length > 0 ? Math.min(...candidates) : NaN, hint }
}
