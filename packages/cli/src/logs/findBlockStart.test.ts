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

const find = (text: string, block: number): ReturnType<typeof findBlockStart> => {
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
    { what: 'nothing in an empty file', text: '', block: 0, offset: 0, logs: 0 },
    { what: 'no log of these blocks', text: '1,a\n2,b\n', block: 3, offset: 8, logs: 0 },
    { what: 'some logs', text: '1,a\n2,b\n2,c\n3,d\n', block: 2, offset: 4, logs: 3 },
    { what: 'all logs', text: '1,a\n2,b\n', block: 0, offset: 0, logs: 2 },
    { what: 'all logs, but not the header', text: 'blockNumber,x\r\n1,a\r\n2,b\r\n', block: 0, offset: 15, logs: 2 },
    {
      what: 'logs in JSON',
      text: '{"blockNumber":9,"a":1}\n{"blockNumber":10,"a":2}\n',
      block: 10,
      offset: 24,
      logs: 1,
    },
  ])('finds $what', ({ text, block, offset, logs }) => {
    expect(find(text, block)).toEqual({ offset, logs })
  })

  test.each([
    ['at the end of a line', 0],
    ['at the start of a line', 1],
    ['after the first byte of a line', 2],
    ['in the middle of a line', 500],
  ])('finds logs across chunks, if a chunk starts %s', (_where, shift) => {
    // Chunks have 1 MiB, and all lines but the last have 1 KiB.
    const lines = Array.from({ length: 2_200 }, (_, block) => `${`${block},`.padEnd(1_023, 'x')}\n`)
    lines.push(`${'2200,'.padEnd(1_023 + shift, 'x')}\n`)
    expect(find(lines.join(''), 40)).toEqual({ offset: 40 * 1_024, logs: 2_161 })
  })
})
