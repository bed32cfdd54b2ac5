import { networkNames } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'

/** Where an app's key may be used, by the app's two switches. */
export const networksOf = (app: Readonly<Record<Network, number | null>>): readonly Network[] =>
  networkNames.filter((name) => app[name] === 1)
