import { expect, test } from 'vitest'
import { formatCell, formatPeers, findLosses } from './formatPeers.ts'
import type { Outcome, PeerTable } from './formatPeers.ts'

const outcome = (subject: string, name: string, api: Outcome['api'], problems: readonly string[] = []): Outcome => ({
  subject,
  name,
  api,
  problems,
})

const outcomes = [
  outcome('ours', 'one', 'library'),
  outcome('ours', 'one', 'raw'),
  outcome('theirs', 'one', 'library'),
  outcome('theirs', 'one', 'raw', ['4 requests']),
  outcome('ours', 'two', 'raw', ['call 1 failed', 'call 3 failed', '2 requests']),
  outcome('theirs', 'two', 'raw'),
  outcome('ours', 'three', 'library', ['failed']),
  outcome('ours', 'three', 'raw', ['failed']),
  outcome('theirs', 'three', 'library', ['failed']),
  outcome('theirs', 'three', 'raw', ['got a wrong value']),
]

const table: PeerTable = {
  columns: [
    { name: 'ours', isOurs: true, made: 'ours()' },
    { name: 'theirs', isOurs: false, made: 'theirs()' },
  ],
  cases: ['one', 'two', 'three'].map((name) => ({ name, group: name === 'one' ? 'first' : 'second' })),
  outcomes,
  argumentFor: (name) => (name === 'two' ? 'It is better so.' : undefined),
  run: 'By hand.',
}

test('a cell is right in both forms, or says what was wrong and where', () => {
  const cells = table.cases.map(({ name }) => [
    formatCell(outcomes, name, 'ours'),
    formatCell(outcomes, name, 'theirs'),
  ])
  expect(cells).toEqual([
    ['right', 'raw: 4 requests'],
    ['calls 1, 3 failed; 2 requests', 'right'],
    ['failed', 'library: failed; raw: got a wrong value'],
  ])
  expect(formatCell(outcomes, 'four', 'ours')).toBe('')
})

test('a case that Keyrail loses names the clients that are right, and its argument', () => {
  expect(findLosses(table).map(({ name, wonBy, argument }) => [name, wonBy, argument])).toEqual([
    ['two', ['theirs'], 'It is better so.'],
    ['three', [], undefined],
  ])
})

test('a case that was not run does not count as right', () => {
  expect(findLosses({ ...table, outcomes: [] }).map(({ cell }) => cell)).toEqual(['not run', 'not run', 'not run'])
})

test('the file counts the right cases of each group, and has the sections', () => {
  const text = formatPeers(table)
  expect(text).toContain('| first  |     1 |    1 |      0 |')
  expect(text).toContain('| all    |     3 |    1 |      1 |')
  expect(text).toContain(
    '## Cases in which a peer is right and Keyrail is not\n\n- **two.** ours: calls 1, 3 failed; 2 requests. Right: theirs. It is better so.',
  )
  expect(text).toContain('## Cases in which neither is right\n\n- **three.** ours: failed. No reason given.')
  expect(text).toMatch(/\| one +\| right +\| raw: 4 requests +\|/)
})
