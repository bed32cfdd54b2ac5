import type { OpenSubject, Subject } from './subjects/subject.ts'
import { subjects } from './subjects/subjects.ts'
import { runWorkload } from './workloads.ts'
import type { Workload } from './workloads.ts'

/** What the bench asks of a subject's process. */
export interface Order {
  readonly workload: Workload
  /** Collect garbage when all is under way, and tell how much is alive then. */
  readonly weigh?: boolean
}

/** What one run cost. */
export interface Cost {
  readonly wallMs: number
  /** Of this process, user and system, its threads included. */
  readonly cpuMs: number
  readonly peakRssMb: number
  /** Alive after a forced collection with all calls under way. */
  readonly heapMb?: number
  readonly error?: string
}

const [, , name = '', url = ''] = process.argv
const gc = globalThis.gc as () => void

const run = async (subject: Subject, { workload, weigh }: Order): Promise<Cost> => {
  let heapMb: number | undefined
  let error: string | undefined
  // What an earlier run left behind is not this one's cost.
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
