import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { closeCodes, faultCloses } from '../../src/proxy/caller/webSocket/closeReasons.ts'
import { socketBehavior, socketLibraries, socketRows } from './libraries/socketBehavior.ts'
import type { SocketBehavior } from './libraries/socketBehavior.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/service/subscriptions.md'), 'utf8')

/** The rows of the first table below a heading, as texts. */
const readTable = (heading: string): string[][] => {
  const [, section = ''] = page.split(`## ${heading}\n`)
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? []
  const rows = table.trimEnd().split('\n')
  return rows
    .filter((_, index) => index !== 1)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

describe('docs/service/subscriptions.md', () => {
  test('has the close codes of the service, with their reasons', () => {
    const rows = readTable('Close codes').slice(1)
    // From the WebSocket library: a message that is too big, an invalid frame, invalid UTF-8, and a connection without a close frame.
    const fromLibrary = ['1009', '1002', '1007', '1006']
    const codes = rows.flatMap(([code = '']) => code.split(', '))
    expect(new Set(codes)).toEqual(new Set([...Object.values(closeCodes).map(String), ...fromLibrary]))
    for (const { code, reason } of Object.values(faultCloses)) {
      expect(rows.map(([number, text]) => [number, text])).toContainEqual([String(code), `\`${reason}\``])
    }
  })

  test("has the results of the libraries' own WebSockets", () => {
    const names = Object.keys(socketRows) as (keyof SocketBehavior)[]
    const expected = names.map((name) => [
      socketRows[name],
      ...socketLibraries.map((library) => socketBehavior[library][name]),
    ])
    expect(readTable('Other libraries')).toEqual([['', ...socketLibraries], ...expected])
  })
})
