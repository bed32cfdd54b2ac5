/** Methods by a value that the table has for them. The names are separated by spaces, because bundles of browsers hold them. */
export type MethodGroups = Readonly<Record<string, string>>

/**
 * Returns the value of each method.
 *
 * @param groups - A slice of the table of methods.
 * @example
 * toMethodMap({ 1: 'eth_chainId eth_syncing' }).get('eth_chainId') // '1'
 */
export const toMethodMap = (groups: MethodGroups): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(groups).flatMap(([value, names]) => names.split(' ').map((name): [string, string] => [name, value])),
  )

/** Returns the name of the row that all methods of a namespace share. */
export const toNamespace = (method: string): string => `${method.slice(0, method.indexOf('_') + 1)}*`
