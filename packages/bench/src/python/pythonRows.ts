import type { Figure, FigureRow } from '../figureRow.ts'

/** The workloads, the calls of a slice, and the bars for the ratio to web3.py. */
export const workloads: readonly {
  readonly name: string
  readonly title: string
  readonly calls: number
  readonly most: number
}[] = [
  { name: 'singles', title: '5,000 eth_blockNumber, one after another', calls: 500, most: 0.4 },
  { name: 'concurrent', title: '5,000 eth_blockNumber, 64 at a time', calls: 500, most: 0.4 },
  { name: 'batches', title: '5,000 eth_getBalance in batches of 100', calls: 500, most: 0.9 },
  { name: 'logs', title: '10 eth_getLogs of 5 MB', calls: 1, most: 1 },
]

const createFigures = ({ name, title, most }: (typeof workloads)[number]): readonly Figure[] => [
  { key: `${name}Wall`, title: `${title}: keyrail beside web3.py`, unit: '×', most, control: `${name}WallControl` },
  { key: `${name}WallControl`, title: `${title}: web3.py beside itself`, unit: '×' },
  {
    key: `${name}Cpu`,
    title: `${title}: keyrail beside web3.py, CPU`,
    unit: '×',
    most,
    control: `${name}CpuControl`,
  },
  { key: `${name}CpuControl`, title: `${title}: web3.py beside itself, CPU`, unit: '×' },
  { key: `${name}Instant`, title: `${title}: a provider that takes no time beside web3.py, CPU`, unit: '×' },
  { key: `${name}Keyrail`, title: `${title}: keyrail`, unit: 'ms' },
  { key: `${name}Web3`, title: `${title}: web3.py`, unit: 'ms' },
]

const createRow = (way: 'sync' | 'async', title: string): FigureRow => ({
  name: way === 'sync' ? 'pythonSync' : 'pythonAsync',
  title,
  program: 'python/measurePython.ts',
  args: [way],
  figures: workloads.flatMap(createFigures),
  enough: 10,
  note:
    'Python, web3.py and the packages below it as `packages/python/requirements.txt` pins them. Four processes take turns\n' +
    'of a tenth of their calls, in random order and one at a time: our provider, that of web3.py twice, and one that responds from memory,\n' +
    'which shows the time that web3.py takes itself: no provider can be faster. All keep their connections.',
})

/** The rows of the provider for web3.py, compared with web3.py's own. */
export const pythonRows: readonly FigureRow[] = [
  createRow('sync', "Python, KeyrailProvider beside web3.py's HTTPProvider"),
  createRow('async', "Python, AsyncKeyrailProvider beside web3.py's AsyncHTTPProvider"),
]
