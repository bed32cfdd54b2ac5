import { z } from 'zod'
import type { Network } from '../../lib/network.ts'

/** A network's name. */
export const networkName: z.ZodType<Network, Network> = z.enum(['testnet', 'mainnet'])

/** A string for each network. */
export const perNetwork: z.ZodType<Readonly<Record<Network, string>>> = z.strictObject({
  testnet: z.string(),
  mainnet: z.string(),
})
