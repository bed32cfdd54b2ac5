import { maskKeys } from '../output/maskKeys.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { createRateMeter } from './exportRate.ts'
import type { ExportProgress } from './exportRate.ts'
import { formatProgress } from './formatProgress.ts'

/** Shows the progress of an export. */
export interface ProgressBar {
  /** Whether a bar is drawn. If not, only notes are printed. */
  readonly drawn: boolean
  readonly update: () => void
  /** Prints a line for people. Keys are masked. */
  readonly note: (line: string) => void
  /** Removes the bar. */
  readonly end: () => void
}

const drawEveryMs = 100
const eraseLine = '\r\u001B[2K'

/** The options of a progress bar. */
export interface ProgressBarOptions {
  readonly getProgress: () => ExportProgress
  /** Whether the stream is a terminal that nothing else writes to. */
  readonly drawn: boolean
  /** Whether to suppress notes, too. */
  readonly quiet: boolean
}

/**
 * Creates a progress bar.
 *
 * @param stream - Standard error, because logs may go to standard output.
 * @param options - What to show.
 */
export function createProgressBar(
  stream: Pick<NodeJS.WriteStream, 'columns' | 'write'>,
  { getProgress, drawn: wanted, quiet }: ProgressBarOptions,
): ProgressBar {
  const drawn = wanted && process.env['TERM'] !== 'dumb'
  const getRate = createRateMeter()
  let drawnAt = -Infinity
  const draw = (): void => {
    const now = performance.now()
    if (!drawn || now - drawnAt < drawEveryMs) return
    drawnAt = now
    const progress = getProgress()
    stream.write(`${eraseLine}${formatProgress(progress, getRate(progress, now), stream.columns || 80)}`)
  }
  const erase = (): void => {
    if (drawn) stream.write(eraseLine)
  }
  // Without progress, the rate falls and the time left rises.
  const timer = setInterval(draw, 500)
  draw()
  return {
    drawn,
    update: draw,
    note: (line) => {
      if (quiet) return
      erase()
      // The line may contain text from a node.
      stream.write(`${maskKeys(stripControlCharacters(line))}\n`)
      drawnAt = -Infinity
      draw()
    },
    end: () => {
      clearInterval(timer)
      erase()
    },
  }
}
