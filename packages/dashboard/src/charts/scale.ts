/** A round number that is not below `most`, and not far above it, so that it divides into quarters that read well. */
export function roundTop(most: number): number {
  if (most <= 4) return 4
  const unit = 10 ** Math.floor(Math.log10(most))
  const step = [1, 2, 4, 8, 10].find((factor) => factor * unit >= most) ?? 10
  return step * unit
}

/** At most `count` of the indexes of a row of `length`, evenly spread, the first one among them. */
export function spread(length: number, count: number): number[] {
  const step = Math.max(1, Math.ceil(length / count))
  return Array.from({ length: Math.ceil(length / step) }, (_, at) => at * step)
}
