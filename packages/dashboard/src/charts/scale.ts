/** A round number that is not below `most`, and not far above it, whose quarters are whole numbers. */
export function roundTop(most: number): number {
  if (most <= 8) return most <= 4 ? 4 : 8
  const unit = Math.max(1, 10 ** (Math.ceil(Math.log10(most)) - 2))
  const step = [12, 16, 20, 24, 32, 40, 60, 80, 100].find((factor) => factor * unit >= most) ?? 100
  return step * unit
}

/** At most `count` of the indexes of a row of `length`, evenly spread, the first one among them. */
export function spread(length: number, count: number): number[] {
  const step = Math.max(1, Math.ceil(length / count))
  return Array.from({ length: Math.ceil(length / step) }, (_, at) => at * step)
}
