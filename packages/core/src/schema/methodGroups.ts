/**
 * Methods by a value that the table has for them. The names are separated by spaces, and a name without a namespace has that of the name before it,
 * because bundles of browsers hold them: `eth_chainId syncing` is `eth_chainId` and `eth_syncing`.
 */
export type MethodGroups = Readonly<Record<string, string>>

/**
 * Returns the value of each method.
 *
 * @param groups - A slice of the table of methods.
 * @example
 * toMethodMap({ 1: 'eth_chainId syncing' }).get('eth_syncing') // '1'
 */
export const toMethodMap = (groups: MethodGroups): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(groups).flatMap(([value, names]) => {
      let namespace = ''
      return names.split(' ').map((name): [string, string] => {
        const full = name.includes('_') ? name : namespace + name
        namespace = full.replace(/_.*/, '_')
        return [full, value]
      })
    }),
  )

/** Returns the name of the row that all methods of a namespace share. */
export const toNamespace = (method: string): string => `${method.slice(0, method.indexOf('_') + 1)}*`
