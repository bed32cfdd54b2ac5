import type { MethodRow } from '@keyrail/core/internal'
import rows from './methods.json' with { type: 'json' }

/** A method that a service can offer: the columns of the table of methods that the gateway uses. */
export type OfferedMethod = Pick<
  MethodRow,
  | 'access'
  | 'block'
  | 'blockHash'
  | 'transaction'
  | 'range'
  | 'state'
  | 'replays'
  | 'cached'
  | 'head'
  | 'null'
  | 'expensive'
  | 'filter'
  | 'subscription'
  | 'addresses'
> & { readonly service: NonNullable<MethodRow['service']> }

/** The methods that a service can offer, by name. `npm run methods` writes them from core's table of methods. */
export const methods: ReadonlyMap<string, OfferedMethod> = new Map(
  Object.entries(rows as Readonly<Record<string, OfferedMethod>>),
)
