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
  enough: 10,
  note:
    'Python, web3.py and the packages below it as `packages/python/requirements.txt` pins them. Three processes take their 5,000\n' +
    'calls by turns of 500, in random order and one at a time: our provider, and that of web3.py twice. All keep their connections.',
})

/** The rows of the provider for web3.py, beside web3.py's own. */
export const pythonRows: readonly FigureRow[] = [
  rowOf('sync', "Python, KeyrailProvider beside web3.py's HTTPProvider"),
  rowOf('async', "Python, AsyncKeyrailProvider beside web3.py's AsyncHTTPProvider"),
]
