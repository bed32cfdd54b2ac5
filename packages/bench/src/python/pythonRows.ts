import type { Figure, FigureRow } from '../figureRow.ts'

const workloads: readonly (readonly [name: string, title: string])[] = [
  ['singles', '5,000 eth_blockNumber, one after another'],
  ['batches', '5,000 eth_getBalance in batches of 100'],
]

const figuresOf = ([name, title]: (typeof workloads)[number]): readonly Figure[] => [
  { key: `${name}Wall`, title: `${title}: keyrail beside web3.py`, unit: '×', most: 1, control: `${name}WallControl` },
  { key: `${name}WallControl`, title: `${title}: web3.py beside itself`, unit: '×' },
  {
    key: `${name}Cpu`,
    title: `${title}: keyrail beside web3.py, CPU`,
    unit: '×',
    most: 1,
    control: `${name}CpuControl`,
  },
  { key: `${name}CpuControl`, title: `${title}: web3.py beside itself, CPU`, unit: '×' },
  { key: `${name}Keyrail`, title: `${title}: keyrail`, unit: 'ms' },
  { key: `${name}Web3`, title: `${title}: web3.py`, unit: 'ms' },
]

const rowOf = (way: 'sync' | 'async', title: string): FigureRow => ({
  name: way === 'sync' ? 'pythonSync' : 'pythonAsync',
  title,
  program: 'python/measurePython.ts',
  args: [way],
  figures: workloads.flatMap(figuresOf),
  enough: 15,
  note:
    'Python, web3.py and the packages below it as `packages/python/requirements.txt` pins them. Three processes in each round, in random order and one\n' +
    'at a time: a `KeyrailProvider`, and the provider of web3.py twice. Both connections are kept.',
})

/** The rows of the provider for web3.py, beside web3.py's own. */
export const pythonRows: readonly FigureRow[] = [
  rowOf('sync', "Python, KeyrailProvider beside web3.py's HTTPProvider"),
  rowOf('async', "Python, AsyncKeyrailProvider beside web3.py's AsyncHTTPProvider"),
]
