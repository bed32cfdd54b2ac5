import { z } from 'zod'
import { isNetworkName, networkNameRule } from '../../lib/network.ts'
import type { Network } from '../../lib/network.ts'

/** A network's name. */
export const networkName: z.ZodType<Network, Network> = z
  .string({ error: networkNameRule })
  .refine(isNetworkName, { error: networkNameRule })

/** A string for each of several networks. */
export const perNetwork: z.ZodType<Readonly<Record<Network, string>>> = z.record(z.string(), z.string())
