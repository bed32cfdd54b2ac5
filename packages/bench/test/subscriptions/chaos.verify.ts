import { expect, test } from 'vitest'
import { runChaos } from './runChaos.ts'

// `npm run measure -- soak:subscriptions` runs 1,000 blocks with 30 reorganizations, from a random seed.
test.each([
  ['with WebSocket', { seed: 11, withNodeSockets: true }],
  ['over HTTP only', { seed: 12, withNodeSockets: false }],
])(
  'subscribers have exactly the chain of nodes %s, through all failures of the service',
  { timeout: 300_000 },
  async (_, options) => {
    const { problems, figures } = await runChaos({ blocks: 100, reorgs: 6, ...options })
    expect(problems, `seed ${options.seed}`).toEqual([])
    expect(figures).toMatchObject({ reorgs: 6, killedNodes: 5, restartedInstances: 4 })
    expect(figures['cutConnections']).toBeGreaterThan(50)
    // Those that were behind did not see all of them.
    expect(figures['reportedReorgs']).toBeGreaterThan(60)
  },
)
