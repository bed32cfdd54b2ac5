import { expect, test } from 'vitest'
import { createBackoff } from './createBackoff.ts'
import { createFinality } from './createFinality.ts'
import type { Upstream } from '../createUpstream.ts'

interface Started {
  setNumber: (number: number | string) => void
  /** Sets the members of the response after `id`. */
  setOutcome: (members: string) => void
  upstream: Upstream
  queries: () => number
}

/** An upstream that responds with a finalized block time once. */
const start = (): Started => {
  let text = ''
  let queries = 0
  const upstream: Upstream = {
    post: ({ done }) => {
      queries += 1
      done(undefined, { status: 200, body: Buffer.from(text) })
      return () => {}
    },
    maskError: (value) => value,
    inFlight: () => 0,
    isFull: () => false,
    backoff: createBackoff(),
    getQueryUnits: () => 1,
    hasRoomForQuery: () => true,
    drawForQuery: () => true,
    close: async () => {},
  }
  const setNumber = (number: number | string): void => {
    const source = typeof number === 'number' ? `"0x${number.toString(16)}"` : number
    setOutcome(`"result":{"number":${source}}`)
  }
  const setOutcome = (members: string): void => void (text = `{"jsonrpc":"2.0","id":1,${members}}`)
  return { setNumber, setOutcome, upstream, queries: () => queries }
}
/** A response is known a moment later. */
const untilKnown = () => new Promise((resolve) => setTimeout(resolve, 0))

test('a finalized block counts for later calls, and is queried again after ten seconds', async () => {
  const { setNumber, upstream, queries } = start()
  let time = 1_000
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => {}, now: () => time })
  setNumber(50)
  expect(finality.finalizedBefore(1_000)).toBe(-1)
  await untilKnown()
  expect([finality.finalizedBefore(999), finality.finalizedBefore(1_000)]).toEqual([-1, 50])
  time = 11_500
  setNumber(60)
  finality.finalizedBefore(time)
  await untilKnown()
  // For a call between the two queries, the first block still holds.
  expect([finality.finalizedBefore(11_499), finality.finalizedBefore(11_500), finality.finalizedBefore(999)]).toEqual([
    50, 60, -1,
  ])
  expect(queries()).toBe(2)
})

test('a number that decreases is reported, and drops the earlier ones', async () => {
  const { setNumber, upstream } = start()
  let time = 1_000
  let back = 0
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => (back += 1), now: () => time })
  setNumber(50)
  finality.finalizedBefore(time)
  await untilKnown()
  time = 12_000
  setNumber(3)
  finality.finalizedBefore(time)
  await untilKnown()
  expect([back, finality.finalizedBefore(11_999), finality.finalizedBefore(12_000)]).toEqual([1, -1, 3])
})

test.each(['null', '"latest"', '"0x1","number":"0x2"', '7'])('ignores a block with the number %s', async (number) => {
  const { setNumber, upstream } = start()
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => {}, now: () => 1 })
  setNumber(number)
  finality.finalizedBefore(1)
  await untilKnown()
  expect(finality.finalizedBefore(1)).toBe(-1)
})

// https://github.com/ethereum/execution-apis/pull/879 compares the clients.
test.each([
  ['Geth', '"error":{"code":-32000,"message":"finalized block not found"}'],
  ['Besu and Erigon', '"error":{"code":-39001,"message":"Unknown block"}'],
  ['Nethermind and Reth', '"result":null'],
])('with a node that has no finalized block, as %s says it, nothing is finalized', async (_, outcome) => {
  const { setOutcome, setNumber, upstream } = start()
  let time = 1_000
  let back = 0
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => (back += 1), now: () => time })
  setOutcome(outcome)
  finality.finalizedBefore(time)
  await untilKnown()
  expect(finality.finalizedBefore(time)).toBe(-1)
  // A node that loses its finalized block, as after a restart, keeps what was final.
  time = 12_000
  setNumber(50)
  finality.finalizedBefore(time)
  await untilKnown()
  time = 23_000
  setOutcome(outcome)
  finality.finalizedBefore(time)
  await untilKnown()
  expect([finality.finalizedBefore(time), back]).toEqual([50, 0])
})

test('without the tag, a block is final at the depth of the config, and a head that goes back a little changes nothing', async () => {
  const { setOutcome, setNumber, upstream } = start()
  let [time, head, backs] = [0, 100, 0]
  const onBack = (): void => void (backs += 1)
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack, depth: 20, head: () => head, now: () => time })
  const refresh = async (): Promise<number> => {
    time += 11_000
    finality.finalizedBefore(time)
    await untilKnown()
    return finality.finalizedBefore(time)
  }
  setOutcome('"error":{"code":-32602,"message":"unknown block tag"}')
  expect(await refresh()).toBe(80)
  head = 95
  expect([await refresh(), backs]).toEqual([80, 0])
  head = 110
  expect(await refresh()).toBe(90)
  head = 60
  expect([await refresh(), backs]).toEqual([40, 1])
  // A chain that has started again is shorter than the depth.
  head = 5
  expect([await refresh(), await refresh(), backs]).toEqual([-1, -1, 2])
  head = 60
  expect([await refresh(), backs]).toEqual([40, 2])
  setNumber(59)
  expect(await refresh()).toBe(59)
  // A node with the tag that has no such block for a while.
  setOutcome('"result":null')
  head = 200
  expect([await refresh(), backs]).toEqual([59, 2])
})
