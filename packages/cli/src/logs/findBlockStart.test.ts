import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBlockStart } from './findBlockStart.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const counted = (text: string, block: number): ReturnType<typeof findBlockStart> => {
  const path = join(folder, 'logs')
  writeFileSync(path, text)
  const file = openSync(path, 'r')
  try {
    return findBlockStart(file, text.length, block)
  } finally {
    closeSync(file)
  }
}

describe('findBlockStart', () => {
  test.each([
    { what: 'nothing', text: '', block: 0, bytes: 0, logs: 0 },
    { what: 'no log of those blocks', text: '1,a\n2,b\n', block: 3, bytes: 8, logs: 0 },
    { what: 'some', text: '1,a\n2,b\n2,c\n3,d\n', block: 2, bytes: 4, logs: 3 },
    { what: 'all', text: '1,a\n2,b\n', block: 0, bytes: 0, logs: 2 },
    { what: 'all, but not the head', text: 'blockNumber,x\r\n1,a\r\n2,b\r\n', block: 0, bytes: 15, logs: 2 },
    { what: 'JSON', text: '{"blockNumber":9,"a":1}\n{"blockNumber":10,"a":2}\n', block: 10, bytes: 24, logs: 1 },
  ])('finds $what', ({ text, block, bytes, logs }) => {
    expect(counted(text, block)).toEqual({ bytes, logs })
  })

  test.each([
    ['at the end of a line', 0],
    ['at the begin of a line', 1],
    ['behind it', 2],
    ['in the middle', 500],
  ])('finds them across the chunks that it reads, where one begins %s', (_where, shift) => {
    // Chunks are of 1 MiB, and lines of 1 KiB but for the last.
    const lines = Array.from({ length: 2_200 }, (_, block) => `${`${block},`.padEnd(1_023, 'x')}\n`)
    lines.push(`${'2200,'.padEnd(1_023 + shift, 'x')}\n`)
    expect(counted(lines.join(''), 40)).toEqual({ bytes: 40 * 1_024, logs: 2_161 })
  })
})
