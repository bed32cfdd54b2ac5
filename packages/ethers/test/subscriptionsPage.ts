import { startReport } from '@keyrail/contracts/test/subscriptionsReport.ts'
import type { Log } from 'ethers'
import { KeyrailProvider, webSocket } from '../src/index.ts'

/** Runs in Chromium: the page of a dApp that listens to a node, whose URL is in the page's own. */
const { node, address, report } = startReport()
const provider = new KeyrailProvider({ url: node, webSocket: webSocket() })
void provider.on('error', (error: Error) => void report.errors.push(error.message))
void provider.on('block', (number: number) => void report.numbers.push(number))
const add = ({ blockHash, index, removed }: Log): void => void report.logs.push({ blockHash, logIndex: index, removed })
void provider.on({ address }, (log: Log) => {
  add(log)
  void provider.once(log.removedEvent(), add)
})
