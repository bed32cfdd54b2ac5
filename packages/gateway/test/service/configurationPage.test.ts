import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../src/proxy/gatewayOptions.ts'
import { ConfigError, formatFault } from '../../src/service/configError.ts'
import { parseServiceConfig } from '../../src/service/parseServiceConfig.ts'
import { configJsonSchema } from '../../src/service/configJsonSchema.ts'

const docs = join(import.meta.dirname, '../../../../docs')
const page = readFileSync(join(docs, 'reference/configuration.md'), 'utf8')

/** A part of the JSON Schema of the config. */
interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | false
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly description?: string
}

/** An option as the page shows it. */
interface Option {
  readonly value: string
  /** Undefined if the schema has none: the page may then describe what applies. */
  readonly defaultText: string | undefined
  readonly description: string | undefined
}

const formatNumber = (value = 0): string => value.toLocaleString('en-US')

const formatValue = (schema: Schema): string => {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${JSON.stringify(one)}\``).join(', ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(formatValue).join(' or ')
  const { type = '', minimum, maximum = Infinity } = schema
  if (type === 'null') return '`null`'
  if (type === 'array') return 'list of strings'
  if (type !== 'integer' && type !== 'number') return type
  return maximum >= Number.MAX_SAFE_INTEGER
    ? `${type} from ${formatNumber(minimum)}`
    : `${type}, ${formatNumber(minimum)}–${formatNumber(maximum)}`
}

const formatDefault = (value: unknown, isRequired: boolean): string | undefined => {
  if (value === undefined) return isRequired ? '**required**' : undefined
  const json = JSON.stringify(value)
  return ['[]', '{}'].includes(json) ? 'none' : `\`${json.replaceAll('","', '", "')}\``
}

/** Lists the options of a schema that have no options of their own, by path. */
const listOptions = (schema: Schema, path = '', option?: Option): (readonly [path: string, option: Option])[] => {
  const { properties, additionalProperties, items } = schema
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, member]) => {
      // The default of an object can have a value for a member that is required if the object is there.
      const value = (schema.default as Record<string, unknown> | undefined)?.[name] ?? member.default
      const defaultText = formatDefault(value, schema.required?.includes(name) ?? false)
      const { description } = member
      const option = { value: formatValue(member), defaultText, description }
      return listOptions(member, path === '' ? name : `${path}.${name}`, option)
    })
  if (additionalProperties && additionalProperties.properties) return listOptions(additionalProperties, `${path}.NAME`)
  if (items?.properties !== undefined) return listOptions(items, `${path}[]`)
  return option === undefined ? [] : [[path, option]]
}

const schemaOptions = new Map(listOptions(configJsonSchema()))
const options = new Map(schemaOptions)
for (const [name, value] of Object.entries(defaultLimits))
  options.set(`bounds.${name}`, { ...(options.get(`bounds.${name}`) as Option), defaultText: `\`${value}\`` })

/** A row of the page. */
interface Row {
  readonly value: string
  readonly defaultText: string
  readonly description: string
}

/** Reads the rows of a page by option. A table with the header "option of `limits`" leaves out `limits.` in its rows. */
const readRows = (markdown: string): ReadonlyMap<string, Row> => {
  const found = new Map<string, Row>()
  let prefix = ''
  for (const line of markdown.split('\n')) {
    const [, name = '', description = '', value = '', defaultText = ''] = line.split('|').map((cell) => cell.trim())
    const [, object] = /^option(?: of `(.+)`)?$/.exec(name) ?? []
    if (name.startsWith('option')) prefix = object === undefined ? '' : `${object}.`
    // The table of environment variables has no defaults.
    else if (name.startsWith('`') && defaultText !== '')
      found.set(prefix + name.replaceAll('`', ''), { value, defaultText, description })
  }
  return found
}

const rows = readRows(page)

const howToUpdate = 'to update it, run: npm run unit -- -u --project gateway configurationPage'
const docsLink = /\[([^\]]+)\]\(([^)]+)\)/g

/** A description as plain text, for editors. A link after "see" becomes the path of its page. */
const toPlainText = (name: string, { description, defaultText }: Row): string => {
  const text = description
    .replace(/([Ss]ee )\[[^\]]+\]\(([^)]+)\)/g, (_, see: string, to: string) => {
      return `${see}${posix.join('docs/reference', to.startsWith('#') ? `configuration.md${to}` : to)}`
    })
    .replace(docsLink, '$1')
  // Editors show a default that the schema has.
  const isInSchema = schemaOptions.get(name)?.defaultText !== undefined || defaultText === 'none'
  return isInSchema ? text : `${text} Default: ${defaultText.replace(docsLink, '$1')}.`
}

describe('docs/reference/configuration.md', () => {
  test('has one row for each option of the config, and no other', () => {
    expect(options.size).toBeGreaterThan(100)
    expect([...rows.keys()].sort()).toEqual([...options.keys()].sort())
  })

  test('has the values, the default and a description of each option', () => {
    const wrong = [...options].filter(([name, { value, defaultText }]) => {
      const row = rows.get(name)
      if (row === undefined || row.value !== value || !/^\S.*[.]$/.test(row.description)) return true
      return defaultText === undefined ? row.defaultText === '' : !row.defaultText.startsWith(defaultText)
    })
    expect(wrong).toEqual([])
  })

  test('is the source of the descriptions in the JSON Schema', async () => {
    const descriptions = Object.fromEntries([...rows].map(([name, row]) => [name, toPlainText(name, row)]))
    const file = '../../src/service/optionDescriptions.json'
    await expect(`${JSON.stringify(descriptions, undefined, 2)}\n`, howToUpdate).toMatchFileSnapshot(file)
  })

  test('describes each option in the JSON Schema', () => {
    const described = Object.fromEntries([...schemaOptions].map(([name, { description }]) => [name, description]))
    expect(described).toEqual(Object.fromEntries([...rows].map(([name, row]) => [name, toPlainText(name, row)])))
  })
})

/** Returns the JSON samples of a page that have a member of the config. */
const findConfigSamples = (markdown: string): object[] => {
  const members = new Set(Object.keys((configJsonSchema() as Schema).properties ?? {}))
  return [...markdown.matchAll(/```json\n([\s\S]*?)```/g)]
    .map(([, sample = '']) => JSON.parse(sample) as object)
    .filter((sample) => Object.keys(sample).some((name) => members.has(name)))
}

const minimal = {
  publicUrl: 'https://rpc.example.org',
  networks: { 'base-mainnet': { upstreams: [{ url: 'http://a' }] } },
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
