import { z } from 'zod'
import { network } from './networks.ts'

export const nodeCounts = z
  .strictObject({
    healthy: z
      .int()
      .describe(
        'Reachable, on the right chain, up to date, and without an open circuit breaker. Includes nodes that are throttled or over their budget.',
      ),
    lagging: z.int().describe('Syncing, or too far behind the other nodes.'),
    down: z.int().describe('Unreachable, on the wrong chain, or failing.'),
  })
  .describe('How many nodes of a network are in each state, as this instance sees them.')

export const networkStatusView = z
  .strictObject({
    network,
    nodes: nodeCounts,
    isOfAccount: z.boolean().describe('Whether an app or an API key of the account has it.'),
  })
  .meta({ id: 'NetworkStatus', description: 'The status of a network.' })

export const networkStatusesView = z
  .strictObject({ networks: z.array(networkStatusView) })
  .describe('The status of each network, in the order of the config.')
