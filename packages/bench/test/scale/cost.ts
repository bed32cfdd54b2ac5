import type { Outcome, Scenario } from './scenario.ts'
import type { Servers } from './openServers.ts'
import { size, sumReports, toFigures, withCluster } from './withCluster.ts'

// Few calls by many users, so that little can be written together: what a call costs in the stores.

/** Options of {@link runCost}. */
export interface CostOptions {
  /** Each of them sends 2 calls a second. */
  readonly users: number
  readonly seconds: number
}

const perSecondAndUser = 2
const perDay = 1_000_000

/** Sends one call of each user, then two a second of each for `seconds`. */
const measure = (servers: Servers, { users, seconds }: CostOptions) =>
  withCluster(servers, {}, async (cluster) => {
    const first = { users, perDay, requests: users, clients: 3 }
    await Promise.all(cluster.load(first, (index) => ({ firstUser: Math.floor((index * users) / size) })))
    const perSecond = users * perSecondAndUser
    const load = { users, perDay, requests: perSecond * seconds, clients: 0, perSecond }
    const total = sumReports(await Promise.all(cluster.load(load)))
    return { total, closed: await cluster.close() }
  })

/** Measures what each call costs, without the start and the end of instances and without the first call of each user. */
export const runCost = async (servers: Servers, options: CostOptions): Promise<Outcome> => {
  const without = await measure(servers, { ...options, seconds: 0 })
  const { total, closed } = await measure(servers, options)
  const commits = closed.commits - without.closed.commits
  const rows = closed.rows - without.closed.rows
  const figures = toFigures(total, { commits, rows })
  return {
    figures: { ...figures, 'commits a second and instance': commits / options.seconds / size },
    bars: [
      { name: 'commits', is: commits, atMost: 2 * size * options.seconds + rows / 250 },
      { name: 'commits a call', is: commits / total.requests, atMost: 0.05 },
      { name: 'round trips a call', is: total.commands / total.requests, atMost: 1.01 },
      { name: 'requests that got no grant', is: total.failed + total.rejected, atMost: 0 },
    ],
  }
}

/** The scenario of sparse load. */
export const costScenario: Scenario = {
  name: 'cost',
  title: '66 users, each with 2 calls a second, for a minute',
  run: (servers) => runCost(servers, { users: 66, seconds: 60 }),
}
