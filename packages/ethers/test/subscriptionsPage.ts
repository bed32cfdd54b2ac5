import type { Log } from 'ethers'
import { KeyrailProvider, webSocket } from '../src/index.ts'

/** What the page has received. */
export interface PageReport {
  readonly numbers: number[]
  readonly logs: { readonly blockHash: string; readonly logIndex: number; readonly removed: boolean }[]
  readonly errors: string[]
}

/** Runs in Chromium: the page of a dApp that listens to a node, whose URL is in the page's own. */
const { location } = globalThis as unknown as { readonly location: { readonly href: string } }
const { searchParams } = new URL(location.href)
const report: PageReport = { numbers: [], logs: [], errors: [] }
const provider = new KeyrailProvider({ url: searchParams.get('node') as string, webSocket: webSocket() })
void provider.on('error', (error: Error) => void report.errors.push(error.message))
void provider.on('block', (number: number) => void report.numbers.push(number))
const add = ({ blockHash, index, removed }: Log): void => void report.logs.push({ blockHash, logIndex: index, removed })
void provider.on({ address: searchParams.get('address') as string }, (log: Log) => {
  add(log)
  void provider.once(log.removedEvent(), add)
})
Object.assign(globalThis, { report })
