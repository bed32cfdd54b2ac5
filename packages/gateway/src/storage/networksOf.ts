import { networkNames } from '../network.ts'
import type { Network } from '../network.ts'

/** Where an app's key may be used, by the app's two switches. */
export const networksOf = (app: Readonly<Record<Network, number | null>>): readonly Network[] =>
  networkNames.filter((name) => app[name] === 1)
