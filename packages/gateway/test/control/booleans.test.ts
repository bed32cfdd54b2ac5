import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { routes } from '../../src/control/routes.ts'

const source = join(import.meta.dirname, '../../src')
const maxFiles = 4

const addBooleans = (schema: z.core.$ZodType, found: Set<string>, name = ''): void => {
  const { def } = (schema as z.ZodType)._zod as unknown as {
    readonly def: {
      readonly type: string
      readonly shape?: Readonly<Record<string, z.core.$ZodType>>
      readonly element?: z.core.$ZodType
      readonly innerType?: z.core.$ZodType
      readonly valueType?: z.core.$ZodType
      readonly options?: readonly z.core.$ZodType[]
    }
  }
  if (def.type === 'boolean') found.add(name)
  for (const [member, of] of Object.entries(def.shape ?? {})) addBooleans(of, found, member)
  for (const inner of [def.element, def.innerType, def.valueType, ...(def.options ?? [])])
    if (inner !== undefined) addBooleans(inner, found, name)
}

const booleans = new Set<string>()
for (const { query, body, response } of routes)
  for (const schema of [query, body, response]) if (schema !== undefined) addBooleans(schema, booleans)

const files = globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts', '**/migration/**', '**/*.d.ts'] }).map(
  (file) => ({
    file,
    text: readFileSync(join(source, file), 'utf8'),
  }),
)
const findFiles = (name: string): readonly string[] =>
  files.flatMap(({ file, text }) =>
    new RegExp(`\\b${name}\\b`).test(text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')) ? [file] : [],
  )

/** Words that name other things too, and an option of the config. A count of files says nothing about them. */
const others = [
  'connect',
  'current',
  'email',
  'isLimited',
  'ok',
  'own',
  'passwordLogin',
  'requestLog',
  'reveal',
  'send',
  'testnet',
]

test.each([...booleans].filter((name) => !others.includes(name)))(
  'at most 4 source files besides migrations and generated ones have the boolean %s',
  (name) => {
    const found = findFiles(name)
    expect(found.length, found.join(', ')).toBeLessThanOrEqual(maxFiles)
    expect(found.length).toBeGreaterThan(0)
  },
)

test('the exceptions are booleans of the contract', () => {
  expect(others.filter((name) => !booleans.has(name))).toEqual([])
})
