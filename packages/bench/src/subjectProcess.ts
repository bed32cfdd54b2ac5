import type { OpenSubject, Subject } from './subjects/subject.ts'
import { subjects } from './subjects/subjects.ts'
import { runWorkload } from './workloads.ts'
import type { Workload } from './workloads.ts'

/** A run that the bench requests from the process of a subject. */
export interface Order {
  readonly workload: Workload
  /** Whether to collect garbage once all calls are in flight, and to report the live heap. */
  readonly weigh?: boolean
}

/** The cost of a run. */
export interface Cost {
  readonly wallMs: number
  /** User and system time of this process and its threads. */
  readonly cpuMs: number
  readonly peakRssMb: number
  /** The live heap after a forced collection, with all calls in flight. */
  readonly heapMb?: number
  readonly error?: string
}

const [, , name = '', url = ''] = process.argv
const gc = globalThis.gc as () => void

const run = async (subject: Subject, { workload, weigh }: Order): Promise<Cost> => {
  let heapMb: number | undefined
  let error: string | undefined
  // The garbage of an earlier run must not count for this one.
  gc()
  const cpu = process.cpuUsage()
  const start = performance.now()
  try {
    await runWorkload(subject, workload, () => {
      if (!weigh) return
      gc()
      heapMb = process.memoryUsage().heapUsed / 2 ** 20
    })
  } catch (problem) {
    error = String(problem)
  }
  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  const peakRssMb = process.resourceUsage().maxRSS / 1024
  return { wallMs, cpuMs: (user + system) / 1_000, peakRssMb, ...(heapMb && { heapMb }), ...(error && { error }) }
}

try {
  const subject = await (subjects[name] as OpenSubject)(url)
  process.on('message', (order: Order) => {
    void run(subject, order).then((cost) => process.send?.(cost))
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
} catch (error) {
  process.send?.((error as Error).message)
}
