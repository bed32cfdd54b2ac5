import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { serviceConfigSchema } from '../src/service/serviceConfig.ts'

// Writes the tables of docs/reference/configuration.md. Run it with `npm run reference` after a change of an option.
// A comment above each table chooses its options: `options: NAME …`, `options of OBJECT`, or `options of OBJECT: NAME …`. An option is in the table
// that names it most specifically, and in that of the comment `options` if no other table has it.

/** The page. */
export const referencePage: string = join(import.meta.dirname, '../../../docs/reference/configuration.md')

/** A part of a JSON Schema. */
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

/** An option, with the cells of its row. */
export interface ReferenceOption {
  readonly path: string
  readonly description: string
  readonly value: string
  readonly defaultText: string
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

const formatDefault = (value: unknown): string => {
  const json = JSON.stringify(value) as string | undefined
  return json === undefined || json === '[]' || json === '{}' ? 'none' : `\`${json.replaceAll('","', '", "')}\``
}

/** @param required - The text if it has no default and is required. */
const toOption = (
  path: string,
  schema: Schema,
  defaultValue: unknown,
  required: string | undefined,
): ReferenceOption => {
  const [, description = '', described] = /^(.*?)(?: Default: (.*)\.)?$/s.exec(schema.description ?? '') ?? []
  const missing = defaultValue === undefined ? required : undefined
  return {
    path,
    description,
    value: formatValue(schema),
    defaultText: described ?? missing ?? formatDefault(defaultValue),
  }
}

/** Lists the options of an object that have no options of their own. @param optional - The path of the nearest object around them that can be left out. */
const listMembers = (schema: Schema, path: string, optional: string): readonly ReferenceOption[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    const isRequired = schema.required?.includes(name) ?? false
    const inside = isRequired || member.default !== undefined ? optional : at
    const { additionalProperties, items } = member
    if (member.properties !== undefined) return listMembers(member, at, inside)
    if (additionalProperties && additionalProperties.properties)
      return listMembers(additionalProperties, `${at}.NAME`, '')
    // An object of the list can be short for something else.
    const item = [items, ...(items?.anyOf ?? [])].find((one) => one?.properties !== undefined)
    if (item !== undefined) return listMembers(item, `${at}[]`, '')
    // The default of an object can have a value for a member that is required if the object is there.
    const defaultValue = (schema.default as Record<string, unknown> | undefined)?.[name] ?? member.default
    const required = optional === '' ? '**required**' : `**required** in \`${optional}\``
    return [toOption(at, member, defaultValue, isRequired ? required : undefined)]
  })

/** Lists the options of a config. */
export const listOptions = (schema: z.ZodType = serviceConfigSchema): readonly ReferenceOption[] =>
  listMembers(z.toJSONSchema(schema, { io: 'input' }) as Schema, '', '')

const marker = /^<!-- options(?: of (\S+?))?(?:: (.+))? -->$/

/** How specifically a comment names an option; `undefined` if it does not. */
const match = (path: string, [, object = '', names]: RegExpExecArray): { score: number; place: number } | undefined => {
  const prefix = object === '' ? '' : `${object}.`
  if (!path.startsWith(prefix)) return undefined
  if (names === undefined) return { score: prefix.length, place: 0 }
  const rest = path.slice(prefix.length)
  const place = names.split(' ').findIndex((name) => rest === name || rest.startsWith(`${name}.`))
  return place === -1 ? undefined : { score: prefix.length + rest.length, place }
}

const formatTable = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  return [lines[0] ?? '', `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.slice(1)]
}

/**
 * Renders the page with the tables of these options.
 * @param page - The page, whose tables are replaced.
 * @throws if a table has no options, or no table has an option.
 */
export const renderReference = (page: string, options = listOptions()): string => {
  const lines = page.split('\n')
  const markers = lines.map((line) => marker.exec(line)).filter((found) => found !== null)
  const tables = new Map<string, { readonly option: ReferenceOption; readonly place: number }[]>()
  for (const option of options) {
    const [best] = markers
      .flatMap((one) => {
        const matched = match(option.path, one)
        return matched === undefined ? [] : [{ comment: one[0], ...matched }]
      })
      .toSorted((one, other) => other.score - one.score)
    if (best === undefined) throw new Error(`no table has the option ${option.path}`)
    tables.set(best.comment, [...(tables.get(best.comment) ?? []), { option, place: best.place }])
  }
  const rendered: string[] = []
  let skips = false
  for (const line of lines) {
    if (skips && line.startsWith('|')) continue
    if (skips && line === '' && rendered.at(-1) === '') continue
    skips = false
    rendered.push(line)
    const found = marker.exec(line)
    if (found === null) continue
    const [comment, object] = found
    const rows = (tables.get(comment) ?? []).toSorted((one, other) => one.place - other.place)
    if (rows.length === 0) throw new Error(`no option is in the table of ${comment}`)
    const header = [object === undefined ? 'option' : `option of \`${object}\``, 'description', 'value', 'default']
    const cells = rows.map(({ option: { path, description, value, defaultText } }) => [
      `\`${object === undefined ? path : path.slice(object.length + 1)}\``,
      description,
      value,
      defaultText,
    ])
    rendered.push('', ...formatTable([header, ...cells]), '')
    skips = true
  }
  return rendered.join('\n')
}

if (import.meta.main) writeFileSync(referencePage, renderReference(readFileSync(referencePage, 'utf8')))
