import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run, top } from './run.ts'

// Each of these breaks one rule of the house. A rule that is switched off by accident is seen here.
const planted: readonly { readonly rule: string; readonly file: string; readonly text: string }[] = [
  { rule: 'no-floating-promises', file: 'floating.ts', text: 'Promise.resolve(1)\nexport {}' },
  {
    rule: 'no-cycle',
    file: 'cycle.ts',
    text: "import { back } from './cycleEnd.ts'\nexport const there = (): number => back()",
  },
  {
    rule: 'no-cycle',
    file: 'cycleEnd.ts',
    text: "import { there } from './cycle.ts'\nexport const back = (): number => there()",
  },
  {
    rule: 'consistent-type-imports',
    file: 'typeImport.ts',
    text: "import { Stats } from 'node:fs'\nexport type A = Stats",
  },
  { rule: 'no-console', file: 'console.ts', text: "console.log('hello')\nexport {}" },
  { rule: 'no-explicit-any', file: 'any.ts', text: 'export const loose = (value: any): unknown => value' },
  { rule: 'no-default-export', file: 'default.ts', text: 'export default 1' },
  {
    rule: 'max-params',
    file: 'params.ts',
    text: 'export const many = (a: 1, b: 2, c: 3, d: 4, e: 5): number => a + b + c + d + e',
  },
  {
    rule: 'switch-exhaustiveness-check',
    file: 'switch.ts',
    text: "export function pick(kind: 'a' | 'b'): number | undefined {\n  switch (kind) {\n    case 'a':\n      return 1\n  }\n  return undefined\n}",
  },
  {
    rule: 'prefer-node-protocol',
    file: 'builtin.ts',
    text: "import fs from 'fs'\nexport const read = fs.readFileSync",
  },
  {
    rule: 'no-focused-tests',
    file: 'focused.test.ts',
    text: "import { expect, test } from 'vitest'\ntest.only('a', () => expect(1).toBe(1))",
  },
  {
    rule: 'no-disabled-tests',
    file: 'skipped.test.ts',
    text: "import { expect, test } from 'vitest'\ntest.skip('a', () => expect(1).toBe(1))",
  },
  { rule: 'expect-expect', file: 'empty.test.ts', text: "import { test } from 'vitest'\ntest('a', () => {})" },
  {
    rule: 'Unused oxlint-disable directive',
    file: 'directive.ts',
    text: '// oxlint-disable-next-line no-console\nexport const one = 1',
  },
]

let room = ''
let told = ''

beforeAll(async () => {
  room = mkdtempSync(join(tmpdir(), 'keyrail-lint-'))
  cpSync(join(top, '.oxlintrc.json'), join(room, '.oxlintrc.json'))
  cpSync(join(top, 'tsconfig.base.json'), join(room, 'tsconfig.json'))
  symlinkSync(join(top, 'node_modules'), join(room, 'node_modules'))
  for (const { file, text } of planted) writeFileSync(join(room, file), `${text}\n`)
  writeFileSync(join(room, 'fine.ts'), 'export const one = 1\n')
  told = (await run('oxlint', ['--format', 'unix'], { cwd: room })).stdout
})

afterAll(() => rmSync(room, { recursive: true, force: true }))

test.each(planted)('$rule is told of $file', ({ rule, file }) => {
  expect(told.split('\n').filter((line) => line.startsWith(`${file}:`) && line.includes(rule))).not.toEqual([])
})

test('what is fine is let be', () => {
  expect(told).not.toContain('fine.ts')
})
