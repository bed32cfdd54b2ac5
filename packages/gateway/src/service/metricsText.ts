/** One value of a metric, with the labels it is told apart by. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const escaped = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)

const labelText = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/**
 * One metric in the text form that Prometheus reads.
 * @param metric.name - With its unit, as in `keyrail_requests_total`.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export const metricText = ({
  name,
  help,
  type,
  samples,
}: {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly samples: readonly Sample[]
}): string =>
  [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
    '',
  ].join('\n')

/** How often something took how long. */
export interface Histogram {
  readonly observe: (seconds: number) => void
  /** The lines of its buckets, its sum and its count. */
  readonly lines: (name: string, labels: Readonly<Record<string, string>>) => string[]
}

/**
 * Makes a histogram.
 * @param bounds - Upper bounds of its buckets in seconds, rising.
 */
export const createHistogram = (bounds: readonly number[]): Histogram => {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    observe: (seconds) => {
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += seconds
    },
    lines: (name, labels) => {
      let below = 0
      const buckets = [...bounds.map(String), '+Inf'].map((le, index) => {
        below += counts[index] ?? 0
        return `${name}_bucket${labelText({ ...labels, le })} ${below}`
      })
      return [...buckets, `${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${below}`]
    },
  }
}
