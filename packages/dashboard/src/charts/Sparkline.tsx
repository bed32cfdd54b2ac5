const height = 24
const step = 4

/** Requests by hour as small bars, failed ones at the top of each. The numbers are beside it, so screen readers skip it. */
export function Sparkline(props: { readonly totals: readonly number[]; readonly failures: readonly number[] }) {
  const { totals, failures } = props
  const most = Math.max(1, ...totals)
  const toHeight = (value: number): number => (value === 0 ? 0 : Math.max(1, (value / most) * height))
  // One path for all bars of a color: a page has many of these.
  const toPath = (getBar: (index: number) => readonly [bottom: number, height: number]): string =>
    totals
      .map((_, index) => {
        const [bottom, length] = getBar(index)
        return length === 0
          ? ''
          : `M${index * step} ${(height - bottom).toFixed(1)}v-${length.toFixed(1)}h3v${length.toFixed(1)}z`
      })
      .join('')
  const failedHeight = (index: number): number => toHeight(failures[index] ?? 0)
  const totalHeight = (index: number): number => Math.max(toHeight(totals[index] ?? 0), failedHeight(index))
  return (
    <svg
      className="chart sparkline"
      viewBox={`0 0 ${totals.length * step} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className="area-good" d={toPath((index) => [0, totalHeight(index) - failedHeight(index)])} />
      <path
        className="area-bad"
        d={toPath((index) => [totalHeight(index) - failedHeight(index), failedHeight(index)])}
      />
    </svg>
  )
}
