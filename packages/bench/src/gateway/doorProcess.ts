import { doors } from './doors.ts'

// A process of its own for each door, so that one does not pay for what another left behind.

/** What a door's process has used up to now. */
export interface Used {
  /** User and system, of all its threads. */
  readonly cpuUs: number
  readonly rssMb: number
}

const [, , name = '', upstream = ''] = process.argv
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuUs: user + system, rssMb: process.memoryUsage.rss() / 2 ** 20 } satisfies Used)
})
process.on('disconnect', () => process.exit())
process.send?.(await doors[name]?.(upstream))
