import { expect, test } from 'vitest'
import { createBodyQueue, smallBody } from './createBodyQueue.ts'

const KiB = 1024

/** A queue whose turns the test takes, and the order in which it parsed. */
const setUp = () => {
  const turns: (() => void)[] = []
  const parsed: string[] = []
  const queue = createBodyQueue((run) => void turns.push(run))
  return {
    parsed,
    add: (ownerId: string, bytes: number, name = ownerId): void => queue.add(ownerId, bytes, () => parsed.push(name)),
    /** @returns The bodies that the next turn parsed. */
    turn: (): readonly string[] => {
      const before = parsed.length
      expect(turns.length).toBeLessThanOrEqual(1)
      turns.shift()?.()
      return parsed.slice(before)
    },
  }
}

test('small bodies are parsed at once, also while large ones wait', () => {
  const { parsed, add, turn } = setUp()
  add('greedy', 2_048 * KiB)
  add('greedy', 2_048 * KiB)
  add('other', smallBody)
  add('greedy', 1)
  expect(parsed).toEqual(['other', 'greedy'])
  expect([turn(), turn(), turn()]).toEqual([['greedy'], ['greedy'], []])
})

test('a turn parses one body of 256 KiB or more, however many wait', () => {
  const { add, turn } = setUp()
  for (let body = 0; body < 100; body += 1) add('greedy', 2_048 * KiB, `body ${body}`)
  for (let body = 0; body < 100; body += 1) expect(turn()).toEqual([`body ${body}`])
  expect(turn()).toEqual([])
})

test('owners take turns, so that one that sends a hundred bodies delays another by one', () => {
  const { add, turn } = setUp()
  for (let body = 0; body < 100; body += 1) add('greedy', 2_048 * KiB)
  add('other', 2_048 * KiB)
  add('third', 2_048 * KiB)
  expect([turn(), turn(), turn(), turn(), turn()]).toEqual([['greedy'], ['other'], ['third'], ['greedy'], ['greedy']])
  add('other', 2_048 * KiB)
  expect([turn(), turn()]).toEqual([['greedy'], ['other']])
})

test('a turn parses several bodies that are not so large', () => {
  const { add, turn } = setUp()
  for (let body = 0; body < 10; body += 1) add('one', 64 * KiB, `body ${body}`)
  expect([turn().length, turn().length, turn().length, turn().length]).toEqual([4, 4, 2, 0])
})

test('a body that adds another one from its own turn starts no second row of turns', () => {
  const turns: (() => void)[] = []
  const parsed: string[] = []
  const queue = createBodyQueue((run) => void turns.push(run))
  queue.add('one', 2_048 * KiB, () => {
    parsed.push('first')
    queue.add('one', 2_048 * KiB, () => parsed.push('second'))
  })
  turns.shift()?.()
  expect([parsed, turns.length]).toEqual([['first'], 1])
  turns.shift()?.()
  expect([parsed, turns.length]).toEqual([['first', 'second'], 0])
})
