import { describe, expect, test } from 'vitest'
import { createProgressBar } from './progressBar.ts'
import type { ProgressBarOptions } from './progressBar.ts'

const erase = '\r\u001B[2K'

const written = (
  options: Partial<ProgressBarOptions>,
  use: (bar: ReturnType<typeof createProgressBar>) => void,
): string => {
  let text = ''
  const stream = { columns: 100, write: (part: string | Uint8Array) => (text += String(part)) !== '' }
  const stateOf = () => ({ blocksDone: 1, blocksTotal: 2, logs: 3 })
  const bar = createProgressBar(stream, { stateOf, drawn: true, quiet: false, ...options })
  use(bar)
  bar.end()
  return text
}

describe('createProgressBar', () => {
  test('draws over itself, prints notes above, and leaves nothing behind', () => {
    const text = written({}, (bar) => bar.note('keyrail: one thing'))
    const lines = text.split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/ 50 % .*1 of 2 blocks/)
    expect(lines[0]?.endsWith(`${erase}keyrail: one thing`)).toBe(true)
    expect(lines[1]).toMatch(/ 50 % .*1 of 2 blocks/)
    expect(text.endsWith(erase)).toBe(true)
  })

  test('prints the notes alone where it is not drawn, and nothing where it is quiet', () => {
    expect(written({ drawn: false }, (bar) => bar.note('one thing'))).toBe('one thing\n')
    expect(written({ drawn: false, quiet: true }, (bar) => bar.note('one thing'))).toBe('')
  })

  test('masks keys in notes', () => {
    const key = `kr_a${'k'.repeat(35)}last`
    expect(written({ drawn: false }, (bar) => bar.note(`at ${key}`))).toBe('at …last\n')
  })
})
