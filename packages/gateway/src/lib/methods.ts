import type { MethodRow } from '@keyrail/core/internal'
import rows from './methods.json' with { type: 'json' }

/**
 * Gets the columns that the gateway uses. All rows have all of them, also those without a value: V8 reads a property several times faster if all
 * objects have the same ones.
 */
const toOffered = (row: MethodRow) => ({
  access: row.access,
  block: row.block,
  blockHash: row.blockHash,
  transaction: row.transaction,
  range: row.range,
  state: row.state,
  replays: row.replays,
  cached: row.cached,
  head: row.head,
  shows: row.shows,
  null: row.null,
  expensive: row.expensive,
  filter: row.filter,
  subscription: row.subscription,
  addresses: row.addresses,
  service: row.service,
  presets: row.presets,
})

/** A method that a service can offer: the columns of the table of methods that the gateway uses. */
export type OfferedMethod = Readonly<ReturnType<typeof toOffered>>

/** The methods that a service can offer, by name. `npm run methods` writes them from core's table of methods. */
export const methods: ReadonlyMap<string, OfferedMethod> = new Map(
  Object.entries(rows as Readonly<Record<string, MethodRow>>).map(([name, row]) => [name, toOffered(row)]),
)

/** The most names of methods that the networks of a config can add together. */
export const maxOwnNames = 1_000

/** The most names that metrics and usage count separately: all methods, those that a config adds, and two groups. Later ones count as `other`. */
export const maxMethodNames: number = methods.size + maxOwnNames + 2

/** The row of a method that only the config knows. */
export const toOwnRow = (row: Pick<MethodRow, 'access' | 'addresses'>): OfferedMethod =>
  toOffered({ null: 'answer', ...row })

/** The names of the presets. */
export const methodPresets = [...new Set([...methods.values()].flatMap(({ presets = [] }) => presets))].toSorted()
