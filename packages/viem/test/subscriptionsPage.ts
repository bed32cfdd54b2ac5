import { createPublicClient, fallback } from 'viem'
import { keyrail, webSocket } from '../src/index.ts'

/** What the page has received. */
export interface PageReport {
  readonly blocks: { readonly number: number; readonly hash: string; readonly parentHash: string }[]
  readonly logs: { readonly blockHash: string; readonly logIndex: number; readonly removed: boolean }[]
  readonly errors: string[]
}

/** Runs in Chromium: the page of a dApp that watches a node, whose URL is in the page's own. */
const { location } = globalThis as unknown as { readonly location: { readonly href: string } }
const { searchParams } = new URL(location.href)
const report: PageReport = { blocks: [], logs: [], errors: [] }
const node = { url: searchParams.get('node') as string, webSocket: webSocket() }
const onError = (error: Error): void => void report.errors.push(error.message)

createPublicClient({ transport: keyrail(node), cacheTime: 0 }).watchBlocks({
  onError,
  onBlock: ({ number, hash, parentHash }) => void report.blocks.push({ number: Number(number), hash, parentHash }),
})
createPublicClient({ transport: fallback([keyrail(node)]), cacheTime: 0 }).watchEvent({
  address: searchParams.get('address') as `0x${string}`,
  onError,
  onLogs: (logs) => {
    for (const { blockHash, logIndex, removed } of logs)
      report.logs.push({ blockHash: blockHash as string, logIndex: logIndex as number, removed })
  },
})
Object.assign(globalThis, { report })
