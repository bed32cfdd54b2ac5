/** A figure that stands for itself, beside nothing else: of a clock or a scale, on the machine that it was taken on. */
export interface Figure {
  /** What the program calls it. */
  readonly key: string
  readonly title: string
  /** `×` is a ratio to something that was measured in the same round. */
  readonly unit: '×' | 'µs' | 'ms' | 'MB'
  /** The most that its median may be. @default no bar */
  readonly most?: number
  /** The key of the figure that shows what a ratio of 1 looks like today: where that is not within 5 % of 1, this one does not count. */
  readonly control?: string
}

/** A row of figures that a program finds out of itself. */
export interface FigureRow {
  /** What `--only` calls it. */
  readonly name: string
  readonly title: string
  /** Takes the number of rounds, and prints an object of lists of numbers by the keys of the figures. */
  readonly program: string
  /** Whether the program runs on the source of the packages, because it measures something that no package exports. @default false */
  readonly source?: boolean
  /** What the program takes after that. */
  readonly args?: readonly string[]
  readonly figures: readonly Figure[]
  /** So many rounds are enough, where one takes long. @default as many as of any row */
  readonly enough?: number
  /** What a reader of the figures must know. */
  readonly note: string
}
