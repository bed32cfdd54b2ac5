/** The package registries to look in. */
export interface Registries {
  /** The URL of an npm registry. @default not looked in */
  readonly npm?: string
  /** The URL of a Python package index. @default not looked in */
  readonly pypi?: string
}

/** The packages that example programs install. */
const packages = {
  npm: ['@keyrail/core', '@keyrail/ethers', '@keyrail/fetch', '@keyrail/viem', '@keyrail/web3'],
  pypi: ['keyrail'],
} as const
const maxAgeMs = 10 * 60_000
const timeoutMs = 2_000

const toUrl = (registry: keyof typeof packages, base: string, name: string): string =>
  `${base.replace(/\/+$/, '')}/${registry === 'npm' ? name.replace('/', '%2f') : `simple/${name}/`}`

const exists = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

const findPublished = async (registries: Registries): Promise<readonly string[]> => {
  const found = await Promise.all(
    (['npm', 'pypi'] as const).flatMap((registry) => {
      const base = registries[registry]
      if (base === undefined) return []
      return packages[registry].map(async (name) => ((await exists(toUrl(registry, base, name))) ? [name] : []))
    }),
  )
  return found.flat()
}

/**
 * Creates a function that finds out which of Keyrail's packages are published. It queries each registry at most every 10 minutes, and makes
 * callers wait only for the first response, at most 2 s.
 */
export const createPublishedPackages = (
  now: () => number,
): ((registries: Registries) => Promise<readonly string[]>) => {
  let lastQuery: { readonly of: string; readonly at: number } | undefined
  let found: Promise<readonly string[]> = Promise.resolve([])
  return (registries) => {
    const of = JSON.stringify(registries)
    if (lastQuery?.of === of && now() - lastQuery.at < maxAgeMs) return found
    const isFirst = lastQuery?.of !== of
    lastQuery = { of, at: now() }
    const before = found
    const next = findPublished(registries)
    if (isFirst) found = next
    else void next.then((names) => (found = Promise.resolve(names)))
    return isFirst ? next : before
  }
}
