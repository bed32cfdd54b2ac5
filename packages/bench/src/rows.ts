import type { Figure, FigureRow } from './figureRow.ts'
import { gatewayRows } from './gateway/gatewayRows.ts'
import { pythonRows } from './python/pythonRows.ts'
import { workloads } from './workloads.ts'
import type { Workload } from './workloads.ts'

/** The highest ratio that a subject may have to the row's reference, or to another subject of the row. */
export interface Bar {
  readonly subject: string
  /** What it is compared with. @default the row's reference */
  readonly beside?: string
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
  readonly bars: readonly Bar[]
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

/** Rows in which an adapter must also be so much faster than the library's own provider. */
const ownAtMost: Readonly<Record<string, Bar>> = {
  sequential: { subject: 'viem over keyrail', beside: 'viem', wall: 0.5, cpu: 0.5 },
  concurrent: { subject: 'viem over keyrail', beside: 'viem', wall: 0.5, cpu: 0.5 },
  fullBlocks: { subject: 'ethers over keyrail', beside: 'ethers', wall: 0.2, cpu: 0.2 },
  logs: { subject: 'ethers over keyrail', beside: 'ethers', wall: 0.2, cpu: 0.2 },
}

/** How often each read is made: web3.js takes up to fifty times as long as the call. */
const reads: readonly (readonly [name: string, title: string, calls: number])[] = [
  ['concurrent', 'balances, 64 at a time', 5_000],
  ['blocks', 'blocks of 17 kB, one after another', 500],
  ['fullBlocks', 'blocks of 190 kB, one after another', 50],
  ['logs', 'log answers of 5 MB, one after another', 2],
]

const libraries = ['viem', 'ethers', 'web3']
const over = libraries.map((library) => `${library} over keyrail`)
const adapterBar = (subject: string): Bar => ({ subject, wall: 1.15, cpu: 1.15 })

const waves = '20,000 eth_getBalance in same-tick waves of 100'
const floor = { reference: 'floor', again: 'floor again' }
const fetch = { reference: 'fetch', again: 'fetch again' }
const core = { reference: 'core', again: 'core again' }
const peers = ['viem', 'ethers', 'web3', 'micro']

/** The rows that count the cost of calls, in the order of the contract. */
export const callRows: readonly CallRow[] = [
  ...small.map(([name, title, bar]): CallRow => ({
    name,
    title,
    ...floor,
    workload: workloads[name] as Workload,
    subjects: ['keyrail', 'fetch'],
    peers: [],
    bars: [{ subject: 'keyrail', wall: bar, cpu: bar }],
  })),
  {
    name: 'waves',
    title: `${waves}, batched`,
    ...floor,
    workload: workloads['waves'] as Workload,
    subjects: ['keyrail, batch', 'fetch'],
    peers: [],
    bars: [{ subject: 'keyrail, batch', wall: 1.5, cpu: 1.5 }],
  },
  ...small.map(([name, title]): CallRow => ({
    name: `${name}OnFetch`,
    title: `${title}, on fetch`,
    ...fetch,
    workload: workloads[name] as Workload,
    subjects: ['keyrail on fetch', 'keyrail'],
    peers,
    bars: [{ subject: 'keyrail on fetch', wall: 1.05, cpu: 1.05 }],
  })),
  {
    name: 'wavesOnFetch',
    title: `${waves}, batched, on fetch`,
    ...fetch,
    workload: workloads['waves'] as Workload,
    subjects: ['keyrail on fetch, batch', 'keyrail, batch'],
    peers: ['viem, batch', 'ethers, batch', 'micro, batch'],
    bars: [{ subject: 'keyrail on fetch, batch', wall: 1.2, cpu: 1.2 }],
  },
  ...small.map(([name, title]): CallRow => ({
    name: `${name}Adapters`,
    title: `${title}, through adapters`,
    ...core,
    workload: workloads[name] as Workload,
    subjects: [...over, ...libraries],
    peers: [],
    bars: [...over.map(adapterBar), ...(ownAtMost[name] ? [ownAtMost[name]] : [])],
  })),
  {
    name: 'wavesAdapters',
    title: `${waves}, batched, through adapters`,
    reference: 'core, batch',
    again: 'core, batch again',
    workload: workloads['waves'] as Workload,
    subjects: [...over.map((subject) => `${subject}, batch`), 'viem, batch', 'ethers, batch'],
    peers: [],
    bars: over.map((subject) => adapterBar(`${subject}, batch`)),
  },
  ...reads.map(([name, title, calls]): CallRow => ({
    name: `${name}Reads`,
    title: `${calls.toLocaleString('en')} ${title}, read and decoded by each library`,
    ...core,
    workload: { ...(workloads[name] as Workload), calls },
    subjects: libraries.flatMap((library) => [`${library} reads over keyrail`, `${library} reads`]),
    peers: [],
    bars: libraries.map((library): Bar => ({
      subject: `${library} reads over keyrail`,
      beside: `${library} reads`,
      wall: 1,
      cpu: 1,
    })),
  })),
  {
    name: 'layers',
    title: '20,000 eth_getBalance, 64 at a time, every feature on beside the defaults',
    reference: 'keyrail',
    again: 'keyrail again',
    workload: workloads['concurrent'] as Workload,
    subjects: ['keyrail, every feature', 'keyrail, bare'],
    peers: [],
    bars: [{ subject: 'keyrail, every feature', wall: 1.15, cpu: 1.15 }],
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
    bars: [{ subject: 'keyrail, batch', wall: 1.01, cpu: undefined }],
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
    bars: [{ subject: 'keyrail', wall: 0.8, cpu: undefined, peakRss: 1, heapMb: 200 }],
  },
]

/** The row of whole processes: import, first answer, end. Its subjects are programs in cold/. */
export const coldRow: Row = {
  name: 'cold',
  title: 'Import and first answer, whole process',
  reference: 'bareHttp',
  again: 'bareHttp again',
  subjects: ['keyrail', 'rawFetch', 'nothing'],
  peers,
  bars: [{ subject: 'keyrail', wall: 1.1, cpu: 1.1 }],
}

const logQuestions: readonly (readonly [key: string, title: string])[] = [
  ['all', 'all 10,000 logs'],
  ['address', '1,000 logs by address'],
  ['topic', '100 logs by topic'],
]

/** The row of the mock node. */
export const mockLogsRow: FigureRow = {
  name: 'mockLogs',
  title: 'Mock node with 10,000 mined blocks of 10 logs each, eth_getLogs over 1,000 blocks',
  program: 'mockLogs.mjs',
  figures: [
    ...logQuestions.map(([key, title]): Figure => ({ key, title: `${title}, own answer`, unit: 'ms', most: 50 })),
    ...logQuestions.map(([key, title]): Figure => ({
      key: `${key}Fetched`,
      title: `${title}, through msw and fetch`,
      unit: 'ms',
    })),
    { key: 'rss', title: 'RSS after mining', unit: 'MB', most: 300 },
    { key: 'heap', title: 'live heap after mining', unit: 'MB' },
    { key: 'peakRss', title: 'peak RSS, all questions asked', unit: 'MB' },
  ],
  note:
    "The node's own answer is a `Response` from its handler. Through `setupServer` and `fetch` the time runs until the text is read, 6 MB for all\n" +
    'logs: what that adds is the way through msw and `fetch`, not the node. Garbage is collected before each question. RSS counts Node and msw too;\n' +
    'the peak holds one question with its answer.',
}

/** The rows of programs that find out their figures by themselves. */
export const figureRows: readonly FigureRow[] = [mockLogsRow, ...gatewayRows, ...pythonRows]

/** Every row, in the order of the contract. */
export const rows: readonly (Row | FigureRow)[] = [...callRows, coldRow, ...figureRows]
