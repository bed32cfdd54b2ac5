import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { routes } from '../src/control/routes.ts'

// Writes `controlApi.d.ts`, the published types of the control API, from its routes and schemas. Run it with `npm run contract` after a change of either.

const folder = join(import.meta.dirname, '../src/control/contract')

/** The generated file. */
export const controlTypesFile: string = join(folder, 'controlApi.d.ts')

const toTypeName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Lists the schemas that the contract exports: each is a named type. */
const listNamed = async (): Promise<ReadonlyMap<z.ZodType, string>> => {
  const files = globSync('*.ts', {
    cwd: folder,
    exclude: ['*.d.ts', '*.test.ts', 'apiError.ts', 'openApi.ts', 'texts.ts'],
  }).sort()
  const modules = await Promise.all(files.map(async (file) => (await import(join(folder, basename(file)))) as object))
  return new Map(
    modules.flatMap((module) =>
      Object.entries(module).flatMap(([name, value]) =>
        value instanceof z.ZodType ? [[value, toTypeName(name)] as const] : [],
      ),
    ),
  )
}

const formatDoc = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text} */\n`

const getParent = (schema: z.ZodType): z.ZodType | undefined => schema._zod.parent as z.ZodType | undefined

/** The description of a schema itself, not that of the named type that it refers to. */
const getDoc = (schema: z.ZodType, named: ReadonlyMap<z.ZodType, string>): string | undefined => {
  const parent = getParent(schema)
  const { description } = schema
  return named.has(schema) ||
    (parent !== undefined && findName(schema, named) !== undefined && parent.description === description)
    ? undefined
    : description
}

/** The name of a schema, or of the schema that it describes. */
const findName = (schema: z.ZodType, named: ReadonlyMap<z.ZodType, string>): string | undefined => {
  const parent = getParent(schema)
  return named.get(schema) ?? (parent === undefined ? undefined : findName(parent, named))
}

type Definition = z.core.$ZodTypes['_zod']['def']

/** Writes the type of a schema's output. */
const formatType = (schema: z.ZodType, named: ReadonlyMap<z.ZodType, string>, indent = '', asNamed = true): string => {
  const name = asNamed ? findName(schema, named) : undefined
  if (name !== undefined) return name
  const definition = schema._zod.def as Definition
  const format = (inner: unknown, at = indent): string => formatType(inner as z.ZodType, named, at)
  const { type } = definition
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'unknown') return type
  if (type === 'literal') return definition.values.map((value) => JSON.stringify(value)).join(' | ')
  if (type === 'enum')
    return Object.values(definition.entries)
      .map((value) => `'${value}'`)
      .join(' | ')
  if (type === 'nullable') return `${format(definition.innerType)} | null`
  if (type === 'optional') return format(definition.innerType)
  if (type === 'record') return `Readonly<Record<${format(definition.keyType)}, ${format(definition.valueType)}>>`
  if (type === 'array') {
    const item = format(definition.element)
    return `readonly ${item.includes(' | ') && !item.startsWith('{') ? `(${item})` : item}[]`
  }
  if (type === 'union')
    return definition.options.map((option) => `\n${indent}  | ${format(option, `${indent}    `)}`).join('')
  if (type === 'object') {
    const inner = `${indent}  `
    const members = Object.entries(definition.shape as Record<string, z.ZodType>).map(([key, member]) => {
      const mark = member._zod.optout === 'optional' ? '?' : ''
      return `${formatDoc(getDoc(member, named), inner)}${inner}readonly ${key}${mark}: ${format(member, inner)}\n`
    })
    return `{\n${members.join('')}${indent}}`
  }
  throw new Error(`controlTypes.ts cannot write the type of ${type}: add it`)
}

/** Generates the content of `controlApi.d.ts`. */
export const generateControlTypes = async (): Promise<string> => {
  const named = await listNamed()
  const types = [...named].map(([schema, name]) => {
    const text = formatType(schema, named, '', false)
    const isInterface = text.startsWith('{')
    return {
      name,
      text: `${formatDoc(schema.description, '')}export ${isInterface ? `interface ${name} ${text}` : `type ${name} =${text.startsWith('\n') ? '' : ' '}${text}`}`,
    }
  })
  const calls = routes.map(({ name, summary, description, params, ...schemas }) => {
    const given = { params, query: schemas.query, body: schemas.body, response: schemas.response }
    const parts = Object.entries(given).flatMap(([part, schema]) =>
      schema === undefined
        ? []
        : [
            `${part}: ${formatType(schema, named)
              .replaceAll(/(?<!\{)\n\s*(?=readonly)/g, '; ')
              .replaceAll(/\s+/g, ' ')}`,
          ],
    )
    return `${formatDoc([summary, description ?? ''].join(' ').trim(), '  ')}  '${name}': Call<{ ${parts.join('; ')} }>\n`
  })
  return [
    '// Generated by `npm run contract` from the routes and schemas of the control API.',
    ...types.toSorted((one, other) => one.name.localeCompare(other.name)).map(({ text }) => text),
    `/** A route without any input or output. */
interface EmptyCall {
  readonly params: undefined
  readonly query: undefined
  readonly body: undefined
  readonly response: undefined
}
type Call<Members extends Partial<Record<keyof EmptyCall, unknown>>> = Omit<EmptyCall, keyof Members> & Members`,
    `/**
 * The control API: the path parameters, query, body and response of each route. \`undefined\`: none. Error responses have a status outside
 * 2xx and the body \`ApiErrorView\`. Times are ISO 8601 in UTC.
 */
export interface ControlApi {
${calls.join('')}}\n`,
  ].join('\n\n')
}

if (import.meta.main) writeFileSync(controlTypesFile, await generateControlTypes())
