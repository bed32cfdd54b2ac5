/** A round number that is not below `most`, and not far above it, whose quarters are whole numbers. */
export function roundTop(most: number): number {
  if (most <= 8) return most <= 4 ? 4 : 8
  const unit = Math.max(1, 10 ** (Math.ceil(Math.log10(most)) - 2))
  const step = [12, 16, 20, 24, 32, 40, 60, 80, 100].find((factor) => factor * unit >= most) ?? 100
  return step * unit
}
