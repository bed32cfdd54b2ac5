import type { Figure, FigureRow } from './figureRow.ts'
import { gatewayRows } from './gateway/gatewayRows.ts'
import { pythonRows } from './python/pythonRows.ts'
import { workloads } from './workloads.ts'
import type { Workload } from './workloads.ts'

/** The highest ratio of a subject to the reference of the row, or to another subject of it. */
export interface Bar {
  readonly subject: string
  /** What it is compared with. @default the row's reference */
  readonly beside?: string
  readonly wall: number
  /** The bar for CPU time; undefined if only wall time counts. */
  readonly cpu?: number | undefined
  /** The bar for peak memory. */
  readonly peakRss?: number
  /** The live heap with all calls in flight. */
  readonly heapMb?: number
}

/** A row: a workload, the subjects that run it, and how much slower than the reference they may be. */
export interface Row {
  /** Its name for `--only`. */
  readonly name: string
  readonly title: string
  /** The subject that the others are compared with. It also runs as `again`, as a control: that ratio should be 1. */
  readonly reference: string
  readonly again: string
  readonly subjects: readonly string[]
  readonly peers: readonly string[]
  readonly bars: readonly Bar[]
}

/** A row of calls from a warm process, unless it is `fresh`. */
export interface CallRow extends Row {
  readonly workload: Workload
  /** The path of the server's URL. */
  readonly path?: string
  /** Each run has a new process, and a second run measures the heap. */
  readonly fresh?: boolean
}

const small: readonly (readonly [name: string, title: string, bar: number])[] = [
  ['sequential', '3,000 eth_blockNumber, one after another', 1.1],
  ['concurrent', '20,000 eth_getBalance, 64 at a time', 1.15],
  ['blocks', '2,000 blocks of 17 kB, one after another', 1.1],
  ['fullBlocks', '500 blocks of 190 kB, one after another', 1.1],
  ['logs', '20 log responses of 5 MB, one after another', 1.1],
]

/** Rows in which an adapter must also be this much faster than the library's own provider. */
const ownAtMost: Readonly<Record<string, Bar>> = {
  sequential: { subject: 'viem over keyrail', beside: 'viem', wall: 0.5, cpu: 0.5 },
  concurrent: { subject: 'viem over keyrail', beside: 'viem', wall: 0.5, cpu: 0.5 },
  fullBlocks: { subject: 'ethers over keyrail', beside: 'ethers', wall: 0.2, cpu: 0.2 },
  logs: { subject: 'ethers over keyrail', beside: 'ethers', wall: 0.2, cpu: 0.2 },
}

/** The number of reads: decoding by web3.js takes up to fifty times as long as the call. */
const reads: readonly (readonly [name: string, title: string, calls: number])[] = [
  ['concurrent', 'balances, 64 at a time', 5_000],
  ['blocks', 'blocks of 17 kB, one after another', 500],
  ['fullBlocks', 'blocks of 190 kB, one after another', 50],
  ['logs', 'log responses of 5 MB, one after another', 2],
]

const libraries = ['viem', 'ethers', 'web3']
const over = libraries.map((library) => `${library} over keyrail`)
const adapterBar = (subject: string): Bar => ({ subject, wall: 1.15, cpu: 1.15 })

const waves = '20,000 eth_getBalance in same-tick waves of 100'
const floor = { reference: 'floor', again: 'floor again' }
const fetch = { reference: 'fetch', again: 'fetch again' }
const core = { reference: 'core', again: 'core again' }
const peers = ['viem', 'ethers', 'web3', 'micro']

/** The rows that measure the cost of calls. */
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

/** The row of whole processes: import, first result, exit. Its subjects are programs in cold/. */
export const coldRow: Row = {
  name: 'cold',
  title: 'Import and first result, whole process',
  reference: 'bareHttp',
  again: 'bareHttp again',
  subjects: ['keyrail', 'rawFetch', 'empty'],
  peers,
  bars: [{ subject: 'keyrail', wall: 1.1, cpu: 1.1 }],
}

const logQueries: readonly (readonly [key: string, title: string])[] = [
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
    ...logQueries.map(([key, title]): Figure => ({ key, title: `${title}, handler alone`, unit: 'ms', most: 50 })),
    ...logQueries.map(([key, title]): Figure => ({
      key: `${key}Fetched`,
      title: `${title}, through msw and fetch`,
      unit: 'ms',
    })),
    { key: 'rss', title: 'RSS after mining', unit: 'MB', most: 300 },
    { key: 'heap', title: 'live heap after mining', unit: 'MB' },
    { key: 'peakRss', title: 'peak RSS, after all queries', unit: 'MB' },
  ],
  note:
    'With the handler alone, the time ends with its `Response`. Through `setupServer` and `fetch` it ends when the text has been read, 6 MB for all\n' +
    'logs, so it includes msw and `fetch`. Garbage is collected before each query. RSS includes Node and msw;\n' +
    'the peak includes one query with its response.',
}

/** The rows whose figures a program measures. */
export const figureRows: readonly FigureRow[] = [mockLogsRow, ...gatewayRows, ...pythonRows]

/** Every row, in the order of RESULTS.md. */
export const rows: readonly (Row | FigureRow)[] = [...callRows, coldRow, ...figureRows]
