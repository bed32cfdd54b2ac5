import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MethodRow } from '../packages/core/src/schema/methodRow.ts'
import methods from '../packages/core/src/schema/methods.json' with { type: 'json' }

// Writes the slices of methods.json: the columns that each package needs, in a form that is short where a browser loads it.
// Run it with `npm run methods` after a change of the table. test/methodSlices.test.ts fails until then.

/** The table of methods by name. `debug_*` is the row of a namespace. */
export type MethodTable = Readonly<Record<string, MethodRow>>

/** The table of methods. */
export const methodTable: MethodTable = methods as MethodTable

const isNamespace = (name: string): boolean => name.endsWith('*')

/** A method's own row, without what its namespace has. */
type Entry = readonly [name: string, row: MethodRow]

const getMethods = (table: MethodTable): readonly Entry[] =>
  Object.entries(table).filter(([name]) => !isNamespace(name))

const getNamespace = (table: MethodTable, name: string): MethodRow => table[name.replace(/_.*/, '_*')] ?? {}

/** Leaves out the namespace of a name after another one of the same namespace, unless the rest has a `_` too. */
const shorten = (name: string, index: number, names: readonly string[]): string => {
  const [, namespace = '', rest = ''] = /^([^_]+_)(.*)$/.exec(name) ?? []
  return names[index - 1]?.startsWith(namespace) && !rest.includes('_') ? rest : name
}

/** Puts the names of the same value next to each other, in the form of `MethodGroups`. Names without a value are left out. */
const group = (entries: readonly Entry[], getValue: (row: MethodRow) => number | string | undefined) => {
  const groups: Record<string, string[]> = {}
  for (const [name, row] of entries) {
    const value = getValue(row)
    if (value !== undefined && value !== '') (groups[value] ??= []).push(name)
  }
  return Object.fromEntries(Object.entries(groups).map(([value, names]) => [value, names.map(shorten).join(' ')]))
}

/** The letters of `callMethods`. */
const toFlags = ({ access, expensive, runs, searches, null: nullMeaning }: MethodRow): string =>
  [
    access === 'read' && 'r',
    access === 'write' && 'w',
    expensive && 'x',
    runs && 'c',
    searches && 's',
    nullMeaning === 'list' && 'l',
  ]
    .filter(Boolean)
    .join('')

/**
 * Builds the slice of core: by the name of the export, its description and its value. Each export is used by one feature, so that a bundle without
 * the feature does not have it.
 */
export function buildCoreSlice(table: MethodTable = methodTable) {
  const all = Object.entries(table)
  const entries = getMethods(table)
  const reads = entries.filter(([, { access }]) => access === 'read')
  const cached = entries.filter(([, row]) => row.cached?.includes('sdk'))
  return {
    methodNames: entries.filter(([, { typed }]) => typed).map(([name]) => name),
    callMethods: group(all, toFlags),
    headMethods: group(entries, ({ head }) => head),
    blockMethods: group(reads, ({ block, range }) => block ?? (range === undefined ? undefined : `range${range}`)),
    nullMethods: group(reads, ({ block, index, null: nullMeaning }) =>
      block !== undefined && (index || nullMeaning === 'answer') ? 'valid' : undefined,
    ),
    cachedMethods: group(cached, ({ block, blockHash, range, transaction, final }) =>
      final === 'chain' ? final : transaction === undefined ? (block ?? blockHash ?? range) : 'transaction',
    ),
    unitMethods: group(all, ({ units }) => units),
    lookUpMethods: group(entries, ({ lookUp }) => lookUp),
    quantityMethods: group(entries, ({ quantity }) => (quantity ? 'result' : undefined)),
  }
}

/** Builds the slice of the fetch adapter. */
export const buildFetchSlice = (table: MethodTable = methodTable) => ({
  optionalBlockMethods: group(getMethods(table), ({ optionalBlock, block }) => (optionalBlock ? block : undefined)),
})

type Rows = Readonly<Record<string, object>>

const pick = (row: MethodRow, columns: readonly (keyof MethodRow)[]): object =>
  Object.fromEntries(columns.filter((name) => row[name] !== undefined).map((name) => [name, row[name]]))

/** Builds the slice of the gateway: the methods that a service can offer. */
export const buildGatewaySlice = (table: MethodTable = methodTable): Rows =>
  Object.fromEntries(
    getMethods(table)
      .filter(([, { service, presets }]) => service !== undefined || presets !== undefined)
      .map(([name, own]) => [
        name,
        pick({ ...getNamespace(table, name), ...own }, [
          'access',
          'block',
          'blockHash',
          'transaction',
          'range',
          'state',
          'replays',
          'cached',
          'head',
          'shows',
          'null',
          'expensive',
          'filter',
          'subscription',
          'service',
          'presets',
          'addresses',
        ]),
      ]),
  )

/** Builds the slice of the Python package: all rows. */
export const buildPythonSlice = (table: MethodTable = methodTable): Rows =>
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => [
      name,
      pick(row, [
        'access',
        'block',
        'blockHash',
        'transaction',
        'range',
        'index',
        'final',
        'cached',
        'head',
        'null',
        'expensive',
        'units',
        'lookUp',
        'runs',
        'searches',
      ]),
    ]),
  )

const descriptions: Readonly<Record<string, string>> = {
  methodNames: `/**
 * The name of every method of {@link EthereumRpc}, for what needs them at run time: a completion, a check of a setting.
 *
 * @example
 * const known: readonly string[] = methodNames
 * known.includes('eth_blockNumber') // true
 */`,
  callMethods:
    '/** Methods by their flags: `r` read, `w` write, `x` expensive, `c` runs code of a contract, `s` searches a range, `l` null is an empty list. */',
  headMethods: '/** Methods by how their result contains the number of a block. */',
  blockMethods: '/** Reads by the position of their block, or of their range of blocks. */',
  nullMethods: '/** Methods whose result can be null at a block that the node has. */',
  cachedMethods:
    '/** Methods with results to cache: by the position of their block, by their transaction, or constant on a chain. */',
  unitMethods: '/** Methods by their cost in compute units. */',
  lookUpMethods: '/** Methods whose lost response can be looked up, by what. */',
  quantityMethods: '/** Methods whose result is a quantity. */',
  optionalBlockMethods: '/** Methods that may leave out their block, by its position. */',
}

/** Writes a slice in TypeScript. */
export const toSource = (slice: Readonly<Record<string, unknown>>): string =>
  [
    '// Written by `npm run methods` from methods.json of core. Do not edit it.',
    ...Object.entries(slice).map(
      ([name, value]) =>
        `${descriptions[name] ?? ''}\nexport const ${name} = ${JSON.stringify(value)}${Array.isArray(value) ? ' as const' : ''}`,
    ),
  ].join('\n\n')

if (import.meta.main) {
  const write = (path: string, content: string): void => {
    const file = join(import.meta.dirname, '../packages', path)
    writeFileSync(file, `${content}\n`)
    execFileSync(join(import.meta.dirname, '../node_modules/.bin/oxfmt'), [file])
  }
  write('core/src/schema/methodSlice.ts', toSource(buildCoreSlice()))
  write('fetch/src/client/methodSlice.ts', toSource(buildFetchSlice()))
  write('gateway/src/lib/methods.json', JSON.stringify(buildGatewaySlice()))
  write('python/src/keyrail/methods.json', JSON.stringify(buildPythonSlice()))
}
