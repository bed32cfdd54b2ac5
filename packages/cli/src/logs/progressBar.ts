import { maskKeys } from '../output/maskKeys.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { createRateMeter } from './exportRate.ts'
import type { ExportProgress } from './exportRate.ts'
import { formatProgress } from './formatProgress.ts'

/** Shows how far an export has come. */
export interface ProgressBar {
  /** Whether there is one; else only notes are printed. */
  readonly drawn: boolean
  readonly update: () => void
  /** Prints a line for people. Keys are masked. */
  readonly note: (line: string) => void
  /** Takes the bar away. */
  readonly end: () => void
}

const drawEveryMs = 100
const eraseLine = '\r\u001B[2K'

/** What a bar shows, and where. */
export interface ProgressBarOptions {
  readonly stateOf: () => ExportProgress
  /** Whether there is a terminal to draw on, with nothing else on it. */
  readonly drawn: boolean
  /** Whether notes are left out, too. */
  readonly quiet: boolean
}

/**
 * Makes a bar.
 *
 * @param stream - Standard error: standard output may be where the logs go.
 * @param options - What it shows.
 */
export function createProgressBar(
  stream: Pick<NodeJS.WriteStream, 'columns' | 'write'>,
  { stateOf, drawn: wanted, quiet }: ProgressBarOptions,
): ProgressBar {
  const drawn = wanted && process.env['TERM'] !== 'dumb'
  const paceOf = createRateMeter()
  let drawnAt = -Infinity
  const draw = (): void => {
    const now = performance.now()
    if (!drawn || now - drawnAt < drawEveryMs) return
    drawnAt = now
    const state = stateOf()
    stream.write(`${eraseLine}${formatProgress(state, paceOf(state, now), stream.columns || 80)}`)
  }
  const erase = (): void => {
    if (drawn) stream.write(eraseLine)
  }
  // Where nothing comes, the rate falls and the end goes further away: that is shown, too.
  const timer = setInterval(draw, 500)
  draw()
  return {
    drawn,
    update: draw,
    note: (line) => {
      if (quiet) return
      erase()
      // A node's own words may be among them.
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
