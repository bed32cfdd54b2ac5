import { Web3 } from 'web3'
import { KeyrailProvider, webSocket } from '../src/index.ts'

/** What the page has received. */
export interface PageReport {
  readonly numbers: number[]
  readonly logs: { readonly blockHash: string; readonly logIndex: number; readonly removed: boolean }[]
  readonly errors: string[]
}

/** Runs in Chromium: the page of a dApp that subscribes at a node, whose URL is in the page's own. */
const { location } = globalThis as unknown as { readonly location: { readonly href: string } }
const { searchParams } = new URL(location.href)
const report: PageReport = { numbers: [], logs: [], errors: [] }
const provider = new KeyrailProvider({ url: searchParams.get('node') as string, webSocket: webSocket() })
const { eth } = new Web3(provider)
const onError = (error: Error): void => void report.errors.push(error.message)
const subscribe = async (): Promise<void> => {
  const blocks = await eth.subscribe('newHeads')
  blocks.on('data', ({ number }) => void report.numbers.push(Number(number)))
  blocks.on('error', onError)
  const logs = await eth.subscribe('logs', { address: searchParams.get('address') as string })
  logs.on('data', ({ blockHash, logIndex, removed }) => {
    report.logs.push({ blockHash: String(blockHash), logIndex: Number(logIndex), removed: removed === true })
  })
  logs.on('error', onError)
}
subscribe().catch(onError)
Object.assign(globalThis, { report })
