// Plain JavaScript: otherwise the memory that Node needs to strip types would be measured too.
import { createMockNode } from '@keyrail/msw'
import { getResponse } from 'msw'
import { setupServer } from 'msw/node'

const BLOCKS = 10_000
const RANGE = 1_000
const LOGS = 10
const WARM_ROUNDS = 2
const rounds = Number(process.argv[2])

const url = 'https://node.example/rpc'
const node = createMockNode({ url, automine: false })
const toWord = (number) => `0x${number.toString(16).padStart(64, '0')}`
const toAddress = (index) => `0x${(index + 1).toString(16).padStart(40, '0')}`
for (let block = 0; block < BLOCKS; block++) {
  node.emit(
    Array.from({ length: LOGS }, (_, index) => ({
      address: toAddress(index),
      topics: [toWord(1), toWord(block % 100), toWord(index)],
      data: toWord(block * LOGS + index),
    })),
  )
  node.mine()
}
const rssMb = process.memoryUsage().rss / 2 ** 20
globalThis.gc()
const heapMb = process.memoryUsage().heapUsed / 2 ** 20

/** The filters for each range, and how many logs each must find. */
const questions = [
  { of: 'all', filter: {}, logs: RANGE * LOGS },
  { of: 'address', filter: { address: toAddress(3) }, logs: RANGE },
  { of: 'topic', filter: { topics: [null, toWord(7)] }, logs: (RANGE / 100) * LOGS },
]

/** Runs every query in every round, each round with another range. Returns the milliseconds by query. */
async function measure(timed) {
  const times = Object.fromEntries(questions.map(({ of }) => [of, []]))
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    const from = 1 + (((round + WARM_ROUNDS) * 1_777) % (BLOCKS - RANGE))
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${(from + RANGE - 1).toString(16)}` }
    for (const { of, filter, logs } of questions) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{ ...range, ...filter }] })
      // The garbage of the last query must not count for this one.
      globalThis.gc()
      const { ms, text } = await timed({ method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const found = JSON.parse(text).result.length
      if (found !== logs) throw new Error(`${of}: ${found} logs, not ${logs}`)
      if (round >= 0) times[of].push(ms)
    }
  }
  return times
}

const own = await measure(async (init) => {
  const request = new Request(url, init)
  const start = performance.now()
  const response = await getResponse(node.handlers, request)
  const ms = performance.now() - start
  return { ms, text: await response.text() }
})

const server = setupServer(...node.handlers)
server.listen()
const fetched = await measure(async (init) => {
  const start = performance.now()
  const text = await (await fetch(url, init)).text()
  return { ms: performance.now() - start, text }
})
server.close()

const peakRssMb = process.resourceUsage().maxRSS / 1024
const figures = {
  ...own,
  ...Object.fromEntries(Object.entries(fetched).map(([of, times]) => [`${of}Fetched`, times])),
  rss: [rssMb],
  heap: [heapMb],
  peakRss: [peakRssMb],
}
process.stdout.write(JSON.stringify(figures))
