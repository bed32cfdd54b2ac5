import { describe, expect, test } from 'vitest'
import { createProgressBar } from './progressBar.ts'
import type { ProgressBarOptions } from './progressBar.ts'

const erase = '\r\u001B[2K'

const collectOutput = (
  options: Partial<ProgressBarOptions>,
  use: (bar: ReturnType<typeof createProgressBar>) => void,
): string => {
  let text = ''
  const stream = { columns: 100, write: (part: string | Uint8Array) => (text += String(part)) !== '' }
  const getProgress = () => ({ blocksDone: 1, blocksTotal: 2, logs: 3 })
  const bar = createProgressBar(stream, { getProgress, drawn: true, quiet: false, ...options })
  use(bar)
  bar.end()
  return text
}

describe('createProgressBar', () => {
  test('redraws itself, prints notes above it, and is removed at the end', () => {
    const text = collectOutput({}, (bar) => bar.note('keyrail: a note'))
    const lines = text.split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/ 50 % .*1 of 2 blocks/)
    expect(lines[0]?.endsWith(`${erase}keyrail: a note`)).toBe(true)
    expect(lines[1]).toMatch(/ 50 % .*1 of 2 blocks/)
    expect(text.endsWith(erase)).toBe(true)
  })

  test('prints only notes if not drawn, and nothing if quiet', () => {
    expect(collectOutput({ drawn: false }, (bar) => bar.note('a note'))).toBe('a note\n')
    expect(collectOutput({ drawn: false, quiet: true }, (bar) => bar.note('a note'))).toBe('')
  })

  test('masks keys in notes', () => {
    const key = `kr_a${'k'.repeat(35)}last`
    expect(collectOutput({ drawn: false }, (bar) => bar.note(`at ${key}`))).toBe('at …last\n')
  })
})
