import { expect, test } from 'vitest'
import { createFinality } from './createFinality.ts'
import type { Upstream } from './createUpstream.ts'

/** An upstream that answers with a finalized block at once. */
const start = (): { say: (number: number | string) => void; upstream: Upstream; asked: () => number } => {
  let text = ''
  let asked = 0
  const upstream: Upstream = {
    post: ({ done }) => {
      asked += 1
      done(undefined, { status: 200, body: Buffer.from(text) })
      return () => {}
    },
    maskError: (value) => value,
    close: async () => {},
  }
  const say = (said: number | string): void => {
    const number = typeof said === 'number' ? `"0x${said.toString(16)}"` : said
    text = `{"jsonrpc":"2.0","id":1,"result":{"number":${number}}}`
  }
  return { say, upstream, asked: () => asked }
}
/** What was heard is known a moment later. */
const heard = () => new Promise((resolve) => setTimeout(resolve, 0))

test('what was heard counts for what is asked afterwards, and is heard anew after ten seconds', async () => {
  const { say, upstream, asked } = start()
  let at = 1_000
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => {}, now: () => at })
  say(50)
  expect(finality.numberBefore(1_000)).toBe(-1)
  await heard()
  expect([finality.numberBefore(999), finality.numberBefore(1_000)]).toEqual([-1, 50])
  at = 11_500
  say(60)
  finality.numberBefore(at)
  await heard()
  // Asked for between the two: what was known then still holds.
  expect([finality.numberBefore(11_499), finality.numberBefore(11_500), finality.numberBefore(999)]).toEqual([
    50, 60, -1,
  ])
  expect(asked()).toBe(2)
})

test('a number that went back is told, and nothing of before holds', async () => {
  const { say, upstream } = start()
  let at = 1_000
  let back = 0
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => (back += 1), now: () => at })
  say(50)
  finality.numberBefore(at)
  await heard()
  at = 12_000
  say(3)
  finality.numberBefore(at)
  await heard()
  expect([back, finality.numberBefore(11_999), finality.numberBefore(12_000)]).toEqual([1, -1, 3])
})

test.each(['null', '"latest"', '"0x1","number":"0x2"', '7'])('%s for a number tells nothing', async (said) => {
  const { say, upstream } = start()
  const finality = createFinality(upstream, { timeoutMs: 1_000, onBack: () => {}, now: () => 1 })
  say(said)
  finality.numberBefore(1)
  await heard()
  expect(finality.numberBefore(1)).toBe(-1)
})
