import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle, bundlers, weigh } from './bundle.ts'
import type { Chunk } from './bundle.ts'
import { installed } from './packed.ts'
import { fullDoor, smallDoor } from './doors.ts'

// Bytes after brotli, all chunks together. What is wanted, 3,500 and 7,000, was not reached:
// docs/decisions/0005-what-the-small-door-weighs.md has the figures. They are held where they stand.
const budgets = [
  { door: 'small', program: smallDoor, atMost: 7_150 },
  { door: 'full', program: fullDoor, atMost: 7_600 },
] as const

describe.each(budgets)('the $door door', ({ door, program, atMost }) => {
  describe.each(bundlers)('bundled for browsers by %s', (bundler) => {
    let room = ''
    let chunks: readonly Chunk[] = []

    beforeAll(async () => {
      room = mkdtempSync(join(installed(), 'size-'))
      const entry = join(room, 'program.js')
      writeFileSync(entry, program)
      chunks = await bundle(bundler, entry)
    })

    afterAll(() => rmSync(room, { recursive: true, force: true }))

    test(`weighs at most ${atMost} bytes`, () => {
      const weight = weigh(chunks)
      console.log(`size: ${door} door, ${bundler}: ${weight} bytes brotli of ${atMost}, ${chunks.length} chunk(s)`)
      // A program that a bundler shook away would weigh nothing.
      expect(weight).toBeGreaterThan(1_000)
      expect(weight).toBeLessThanOrEqual(atMost)
    })

    test('holds nothing of Node', () => {
      expect(nodeImports(chunks.map(({ code }) => code).join('\n'))).toEqual([])
    })
  })
})

test('an import of a module of Node is seen, however it is written', () => {
  const code =
    'import a from"node:http";import"fs";const b=await import("zlib");require("http");export{c}from\'stream/web\''
  expect(nodeImports(code)).toEqual(['fs', 'http', 'node:http', 'stream/web', 'zlib'])
  expect(nodeImports('const kind="http",url="node.example";import a from"./zlib.js"')).toEqual([])
})

/** Modules of Node that a program asks for. */
function nodeImports(code: string): string[] {
  const asked = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*(["'`])([^"'`]+)\1/g)].map(
    (match) => match[2] ?? '',
  )
  const named = [...code.matchAll(/["'`](node:[a-z_/]+)["'`]/g)].map((match) => match[1] ?? '')
  return [...new Set([...asked.filter((name) => builtinModules.includes(name)), ...named])].sort()
}
