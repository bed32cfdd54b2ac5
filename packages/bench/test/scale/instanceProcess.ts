import { openClusterInstance } from '@keyrail/gateway/test/usage/clusterInstance.ts'
import type { ClusterInstance, ClusterStores } from '@keyrail/gateway/test/usage/clusterInstance.ts'
import { startLoad } from './load.ts'
import type { Load, Report, RunningLoad } from './load.ts'

// One instance of a cluster, with its clients, in a process of its own.

/** What the process can be asked to do, and what it replies. */
export interface InstanceCalls {
  open: (stores: ClusterStores, outageGrant: number) => Promise<void>
  /** Replies once all requests have a response. */
  load: (load: Load) => Promise<Report>
  /** The report of the load so far. */
  report: () => Promise<Report>
  /** Ends the load. */
  stop: () => Promise<void>
  /** Writes what is buffered and closes the connections. @returns The events of limits and metering. */
  close: () => Promise<readonly object[]>
}

/** A message to the process. */
export interface InstanceRequest {
  readonly number: number
  readonly name: keyof InstanceCalls
  readonly values: readonly never[]
}

/** Its reply. */
export interface InstanceReply {
  readonly number: number
  readonly value?: unknown
  readonly error?: string
}

const events: object[] = []
let instance: ClusterInstance | undefined
let running: RunningLoad | undefined

const getInstance = (): ClusterInstance => {
  if (instance === undefined) throw new Error('the instance is not open')
  return instance
}
const getLoad = (): RunningLoad => {
  if (running === undefined) throw new Error('there is no load')
  return running
}
const calls: InstanceCalls = {
  open: async (stores, outageGrant) => {
    instance = await openClusterInstance(stores, { outageGrant, onEvent: (event) => events.push(event) })
    // Otherwise a slow PostgreSQL would be connected to within the first requests. The meter and its roll-up use connections too.
    await Promise.all([instance.ping(), instance.ping(), instance.ping(), instance.ping()])
  },
  load: (load) => {
    running = startLoad(getInstance(), load)
    return running.done
  },
  report: async () => getLoad().report(),
  stop: async () => getLoad().stop(),
  close: async () => {
    await getInstance().close()
    return events
  },
}

process.on('message', ({ number, name, values }: InstanceRequest) => {
  const call = calls[name] as (...given: readonly never[]) => Promise<unknown>
  const reply = (result: Omit<InstanceReply, 'number'>): void => void process.send?.({ number, ...result })
  // Started in a promise, so that a call that throws is reported too.
  Promise.resolve()
    .then(() => call(...values))
    .then(
      (value) => reply({ value }),
      (error: unknown) => reply({ error: String(error) }),
    )
})
// The parent has ended.
process.on('disconnect', () => process.exit())
