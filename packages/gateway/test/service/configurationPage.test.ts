import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import { object, whole } from '../../src/proxy/options/fields.ts'
import { configJsonSchema } from '../../src/service/configJsonSchema.ts'
import { ConfigError, formatFault } from '../../src/service/configError.ts'
import { parseServiceConfig } from '../../src/service/parseServiceConfig.ts'
import { serviceConfigSchema } from '../../src/service/serviceConfig.ts'
import { listOptions, referencePage, renderReference } from '../configReference.ts'

const docs = join(import.meta.dirname, '../../../../docs')
const page = readFileSync(referencePage, 'utf8')

/** A part of the JSON Schema of the config. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly default?: unknown
  readonly description?: string
}

const minimal = {
  publicUrl: 'https://rpc.example.org',
  networks: { 'base-mainnet': { upstreams: [{ url: 'http://a' }] } },
}

describe('docs/reference/configuration.md', () => {
  test('is up to date (if not, run `npm run reference`)', () => {
    expect(listOptions().length).toBeGreaterThan(100)
    expect(renderReference(page)).toBe(page)
  })

  test('describes each option', () => {
    expect(listOptions().filter(({ description }) => !/^\S.*[.]$/.test(description))).toEqual([])
  })

  test('is where the JSON Schema has its descriptions from, as plain text with the paths of pages', () => {
    const { properties } = configJsonSchema() as Schema
    expect(properties?.['prometheus']?.properties?.['host']?.description).toBe(
      'The interface of `/metrics`. On 127.0.0.1, it only responds to host names of this machine.',
    )
    expect(properties?.['networkHosts']?.description).toMatch(
      /: see docs\/service\/networks.md#a-host-for-each-network\.$/,
    )
    expect(JSON.stringify(properties)).not.toContain('](')
  })
})

test('an option that is written once in the schema is in the types, the check, the JSON Schema and the reference page', () => {
  const example = whole(1, 9).default(3).describe('An [example](../service/limits.md) of an option.')
  const schema = object({ ...serviceConfigSchema.shape, example })

  expectTypeOf<z.output<typeof schema>['example']>().toEqualTypeOf<number>()
  expectTypeOf<z.input<typeof schema>['example']>().toEqualTypeOf<number | undefined>()

  expect(schema.parse(minimal)).toMatchObject({ example: 3 })
  expect(schema.safeParse({ ...minimal, example: 10 }).error?.issues).toMatchObject([
    { path: ['example'], message: 'must be a whole number from 1 to 9' },
  ])
  expect(schema.safeParse({ ...minimal, exampel: 1 }).error?.issues).toMatchObject([
    { keys: ['exampel'], message: 'did you mean "example"?' },
  ])

  expect((configJsonSchema(schema) as Schema).properties?.['example']).toEqual({
    description: 'An example of an option.',
    type: 'integer',
    minimum: 1,
    maximum: 9,
    default: 3,
  })

  const added = renderReference(page, listOptions(schema))
    .split('\n')
    .filter((line) => line.startsWith('| `example` '))
  expect(added.map((line) => line.split('|').map((cell) => cell.trim()))).toEqual([
    ['', '`example`', 'An [example](../service/limits.md) of an option.', 'integer, 1–9', '`3`', ''],
  ])
})

/** Returns the JSON samples of a page that have a member of the config. */
const findConfigSamples = (markdown: string): object[] => {
  const members = new Set(Object.keys((configJsonSchema() as Schema).properties ?? {}))
  return [...markdown.matchAll(/```json\n([\s\S]*?)```/g)]
    .map(([, sample = '']) => JSON.parse(sample) as object)
    .filter((sample) => Object.keys(sample).some((name) => members.has(name)))
}

describe('config samples in docs', () => {
  const samples = globSync(['reference/configuration.md', 'service/*.md', 'migrate/*.md'], { cwd: docs }).flatMap(
    (file) => findConfigSamples(readFileSync(join(docs, file), 'utf8')).map((sample) => [file, sample] as const),
  )

  test('are valid', () => {
    expect(samples.length).toBeGreaterThan(10)
    const faults = samples.flatMap(([file, sample]) => {
      try {
        parseServiceConfig({ ...minimal, ...sample })
        return []
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        return error.faults.map((fault) => `${file}: ${formatFault(fault)}`)
      }
    })
    expect(faults).toEqual([])
  })
})
