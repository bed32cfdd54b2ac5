import { startReport } from '@keyrail/contracts/test/subscriptionsReport.ts'
import { Web3 } from 'web3'
import { KeyrailProvider, webSocket } from '../src/index.ts'

/** Runs in Chromium: the page of a dApp that subscribes at a node, whose URL is in the page's own. */
const { node, address, report } = startReport()
const provider = new KeyrailProvider({ url: node, webSocket: webSocket() })
const { eth } = new Web3(provider)
const onError = (error: Error): void => void report.errors.push(error.message)
const subscribe = async (): Promise<void> => {
  const blocks = await eth.subscribe('newHeads')
  blocks.on('data', ({ number }) => void report.numbers.push(Number(number)))
  blocks.on('error', onError)
  const logs = await eth.subscribe('logs', { address })
  logs.on('data', ({ blockHash, logIndex, removed }) => {
    report.logs.push({ blockHash: String(blockHash), logIndex: Number(logIndex), removed: removed === true })
  })
  logs.on('error', onError)
}
subscribe().catch(onError)
