import { workloads } from './workloads.ts'
import type { Workload } from './workloads.ts'

/** The highest ratio to the row's reference that a subject may have. */
export interface Bar {
  readonly subject: string
  readonly wall: number
  /** Where it is not the same as `wall`; undefined where only the time counts. */
  readonly cpu?: number | undefined
  /** Peak memory, likewise. */
  readonly peakRss?: number
  /** Alive with all calls under way. */
  readonly heapMb?: number
}

/** One row of the contract: a workload, who does it, and how much slower than the reference may be. */
export interface Row {
  /** What `--only` calls it. */
  readonly name: string
  readonly title: string
  /** What the others are compared with. It runs a second time under `again`, to show what a ratio of 1 looks like today. */
  readonly reference: string
  readonly again: string
  readonly subjects: readonly string[]
  readonly peers: readonly string[]
  readonly bar: Bar
}

/** Calls from a process that is warm, so long as it is not `fresh`. */
export interface CallRow extends Row {
  readonly workload: Workload
  /** Below the server's address. */
  readonly path?: string
  /** Every run has a process of its own, and a second run is weighed. */
  readonly fresh?: boolean
}

const small: readonly (readonly [name: string, title: string, bar: number])[] = [
  ['sequential', '3,000 eth_blockNumber, one after another', 1.1],
  ['concurrent', '20,000 eth_getBalance, 64 at a time', 1.15],
  ['blocks', '2,000 blocks of 17 kB, one after another', 1.1],
  ['fullBlocks', '500 blocks of 190 kB, one after another', 1.1],
  ['logs', '20 log answers of 5 MB, one after another', 1.1],
]

const waves = '20,000 eth_getBalance in same-tick waves of 100'
const floor = { reference: 'floor', again: 'floor again' }
const fetch = { reference: 'fetch', again: 'fetch again' }
const peers = ['viem', 'ethers', 'web3', 'micro']

/** The rows that count the cost of calls, in the order of the contract. */
export const callRows: readonly CallRow[] = [
  ...small.map(([name, title, bar]): CallRow => ({
    name,
    title,
    ...floor,
    workload: workloads[name] as Workload,
    subjects: ['keyrail', 'keyrail, small', 'fetch'],
    peers: [],
    bar: { subject: 'keyrail', wall: bar, cpu: bar },
  })),
  {
    name: 'waves',
    title: `${waves}, batched`,
    ...floor,
    workload: workloads['waves'] as Workload,
    subjects: ['keyrail, batch', 'keyrail, small, batch', 'fetch'],
    peers: [],
    bar: { subject: 'keyrail, batch', wall: 1.5, cpu: 1.5 },
  },
  ...small.map(([name, title]): CallRow => ({
    name: `${name}OnFetch`,
    title: `${title}, on fetch`,
    ...fetch,
    workload: workloads[name] as Workload,
    subjects: ['keyrail on fetch', 'keyrail'],
    peers,
    bar: { subject: 'keyrail on fetch', wall: 1.05, cpu: 1.05 },
  })),
  {
    name: 'wavesOnFetch',
    title: `${waves}, batched, on fetch`,
    ...fetch,
    workload: workloads['waves'] as Workload,
    subjects: ['keyrail on fetch, batch', 'keyrail on fetch, small, batch', 'keyrail, batch'],
    peers: ['viem, batch', 'ethers, batch', 'micro, batch'],
    bar: { subject: 'keyrail on fetch, batch', wall: 1.2, cpu: 1.2 },
  },
  {
    name: 'layers',
    title: '20,000 eth_getBalance, 64 at a time, every layer on against the small door',
    reference: 'keyrail, small',
    again: 'keyrail, small again',
    workload: workloads['concurrent'] as Workload,
    subjects: ['keyrail, every layer', 'keyrail', 'keyrail, http alone'],
    peers: [],
    bar: { subject: 'keyrail, every layer', wall: 1.15, cpu: 1.15 },
  },
  {
    name: 'lone',
    title: '25 lone calls, batching on, the server takes 20 ms',
    reference: 'keyrail',
    again: 'keyrail again',
    workload: workloads['lone'] as Workload,
    path: 'after/20',
    subjects: ['keyrail, batch', 'floor', 'fetch'],
    peers: ['viem, batch', 'ethers, batch', 'micro, batch'],
    bar: { subject: 'keyrail, batch', wall: 1.01, cpu: undefined },
  },
  {
    name: 'flood',
    title: '100,000 eth_getBalance at once, 64 requests open',
    reference: 'floor, 64 sockets',
    again: 'floor, 64 sockets again',
    workload: workloads['flood'] as Workload,
    fresh: true,
    subjects: ['keyrail'],
    peers: [],
    bar: { subject: 'keyrail', wall: 0.8, cpu: undefined, peakRss: 1, heapMb: 200 },
  },
]

/** The row of whole processes: import, first answer, end. Its subjects are programs in cold/. */
export const coldRow: Row = {
  name: 'cold',
  title: 'Import and first answer, whole process',
  reference: 'bareHttp',
  again: 'bareHttp again',
  subjects: ['keyrail', 'keyrailSmall', 'rawFetch', 'nothing'],
  peers,
  bar: { subject: 'keyrail', wall: 1.1, cpu: 1.1 },
}
