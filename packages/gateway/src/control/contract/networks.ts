import { z } from 'zod'
import type { Network } from '../../lib/network.ts'

/** One of the two networks. */
export const networkName: z.ZodType<Network, Network> = z.enum(['testnet', 'mainnet'])

/** One text for each network. */
export const perNetwork: z.ZodType<Readonly<Record<Network, string>>> = z.strictObject({
  testnet: z.string(),
  mainnet: z.string(),
})
