import type { SeenLog } from './appliedEvents.ts'

/** What a subscriber has received of the blocks and the logs of an emitter. */
export interface SubscriptionsReport {
  readonly numbers: number[]
  readonly logs: SeenLog[]
  readonly errors: string[]
}

/** Reads the URL of the node and the address of the emitter from the URL of a page, and publishes its report for the test. */
export function startReport(): {
  readonly node: string
  readonly address: string
  readonly report: SubscriptionsReport
} {
  const { location } = globalThis as unknown as { readonly location: { readonly href: string } }
  const { searchParams } = new URL(location.href)
  const report: SubscriptionsReport = { numbers: [], logs: [], errors: [] }
  Object.assign(globalThis, { report })
  return { node: searchParams.get('node') as string, address: searchParams.get('address') as string, report }
}
