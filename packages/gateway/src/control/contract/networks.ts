import { z } from 'zod'
import { isNetworkName, networkNameRule } from '../../lib/network.ts'

export const network = z
  .string({ error: networkNameRule })
  .refine(isNetworkName, { error: networkNameRule })
  .describe("A network's name.")

export const perNetwork = z.record(network, z.string()).describe('A string for each of several networks.')
