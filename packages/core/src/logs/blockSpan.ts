/** A range of blocks to read. */
export interface BlockSpan {
  readonly from: number
  readonly to: number
  /** Whether it is read only after the consumer has received everything before it. */
  readonly exclusive: boolean
}
