/** A figure with a unit of its own: time, memory, or a ratio that the program computes. */
export interface Figure {
  /** Its key in the output of the program. */
  readonly key: string
  readonly title: string
  /** `×` is a ratio to another measurement of the same round. */
  readonly unit: '×' | 'µs' | 'ms' | 'MB'
  /** The most that its median may be. @default no bar */
  readonly most?: number
  /** The key of the control, which compares the reference with itself. If it is not within 5 % of 1, this figure does not count. */
  readonly control?: string
}

/** A row of figures that a program measures. */
export interface FigureRow {
  /** Its name for `--only`. */
  readonly name: string
  readonly title: string
  /** A program that takes the number of rounds, and prints an object with a list of numbers for each key. */
  readonly program: string
  /** Whether the program runs on the source of the packages, because it measures something that no package exports. @default false */
  readonly source?: boolean
  /** Further arguments of the program. */
  readonly args?: readonly string[]
  readonly figures: readonly Figure[]
  /** The number of rounds that is enough, for programs that take long. @default as for any row */
  readonly enough?: number
  /** A note for readers of the figures. */
  readonly note: string
}
