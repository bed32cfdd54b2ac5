import { getResponse } from 'msw'
import { createMockNode } from '../src/index.ts'
import { wordOf } from './askNode.ts'

/** What a process of its own finds out. */
export interface TenThousandReport {
  readonly megabytes: number
  /** Of a range of 1,000 blocks, in milliseconds, by what was asked for. */
  readonly ranges: readonly {
    readonly of: string
    readonly logs: number
    readonly medianMs: number
    readonly leastMs: number
  }[]
}

const url = 'https://node.example/rpc'
const node = createMockNode({ url, automine: false })
const addressOf = (index: number): `0x${string}` => `0x${(index + 1).toString(16).padStart(40, '0')}`
for (let block = 0; block < 10_000; block++) {
  node.emit(
    Array.from({ length: 10 }, (_, index) => ({
      address: addressOf(index),
      topics: [wordOf(1), wordOf(block % 100), wordOf(index)],
      data: wordOf(block * 10 + index),
    })),
  )
  node.mine()
}
const megabytes = process.memoryUsage().rss / 1e6

async function measure(of: string, filter: object): Promise<TenThousandReport['ranges'][number]> {
  const body = JSON.stringify({
    id: 1,
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x100', toBlock: '0x4e7', ...filter }],
  })
  const times: number[] = []
  let logs = 0
  for (let time = 0; time < 25; time++) {
    const started = performance.now()
    const response = await getResponse(
      node.handlers,
      new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    )
    times.push(performance.now() - started)
    logs = ((await (response as Response).json()) as { result: unknown[] }).result.length
  }
  times.sort((one, other) => one - other)
  return { of, logs, medianMs: times[12] as number, leastMs: times[0] as number }
}

const ranges = [
  await measure('everything', {}),
  await measure('an address', { address: addressOf(3) }),
  await measure('a topic', { topics: [null, wordOf(7)] }),
]
const report: TenThousandReport = { megabytes, ranges }
process.stdout.write(JSON.stringify(report))
