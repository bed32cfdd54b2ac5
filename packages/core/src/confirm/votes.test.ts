import { expect, test } from 'vitest'
import { canAgree, groupVotes } from './votes.ts'

test.each([
  [[], []],
  [
    ['1', '2', '2'],
    [['2', '2'], ['1']],
  ],
  [
    ['1', '2'],
    [['1'], ['2']],
  ],
  [
    ['3', '1', '2', '1', '2'],
    [['1', '1'], ['2', '2'], ['3']],
  ],
])('votes %j are grouped as %j', (votes, groups) => {
  expect(groupVotes(votes, (one, other) => one === other)).toEqual(groups)
})

test.each([
  ['nobody has voted', { nodes: 2, votes: 0, most: 0, open: 2 }, true],
  ['all failed', { nodes: 2, votes: 0, most: 0, open: 0 }, true],
  ['two disagree: the third decides', { nodes: 2, votes: 2, most: 1, open: 0 }, true],
  ['three disagree', { nodes: 2, votes: 3, most: 1, open: 0 }, false],
  ['two of four agree, and four were asked', { nodes: 3, votes: 4, most: 2, open: 0 }, false],
  ['one has not responded', { nodes: 3, votes: 3, most: 2, open: 1 }, true],
])('whether nodes can agree after %s', (_, counts, expected) => {
  expect(canAgree(counts)).toBe(expected)
})
