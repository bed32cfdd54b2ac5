import { setTimeout as wait } from 'node:timers/promises'
import { seededRandom } from '@keyrail/core/test/faults/seededRandom.ts'
import { readCharged } from '@keyrail/gateway/test/usage/clusterStores.ts'
import type { Servers } from '../scale/openServers.ts'
import { exactly } from '../scale/scenario.ts'
import type { Outcome } from '../scale/scenario.ts'
import { holdFor, soakFaults, stores } from './soakFaults.ts'
import type { FaultContext } from './soakFaults.ts'
import { createSoakMemory } from './soakMemory.ts'
import { createLoad } from './startLoad.ts'
import type { SoakLoad, Window } from './startLoad.ts'
import { createReceived } from './startSoakNode.ts'
import type { Received } from './startSoakNode.ts'
import { startSoakService, waitUntil } from './startSoakService.ts'
import type { SoakInstance, SoakService } from './startSoakService.ts'

/** Options of {@link runServiceSoak}. */
export interface ServiceSoakOptions {
  readonly servers: Servers
  /** How long faults go on, in minutes. Each fault happens at least once. */
  readonly minutes: number
  readonly seed: number
  /** The `keyrail` command of the previous build; `undefined`: it does not take part. */
  readonly previous: string | undefined
  /** How many calls end during each fault. */
  readonly callsPerFault: number
  /** Also checks the memory of the instance that runs from beginning to end, and how old counts are that a killed instance had not written. */
  readonly checksFigures: boolean
  readonly onProgress?: (text: string) => void
}

/** What a run found. */
export interface ServiceSoakResult extends Outcome {
  /** Calls with an outcome that no fault allows, and processes that failed. */
  readonly problems: readonly string[]
  readonly outcomes: ReadonlyMap<string, number>
}

const clients = 16
const perSecond = 100
/** The share of its calls that each limited account may use. The last account has no limit. */
const limitedShares = [0.15, 0.3, 0.45, 0.6, 0.75, 0.9]
const unlimited = limitedShares.length
const probes = 20
const dayMs = 86_400_000

/** Waits until every instance reports that all is well, and serves calls. */
const recover = async ({ instances }: SoakService, load: SoakLoad): Promise<void> => {
  for (const instance of instances) {
    await waitUntil(`${instance.name} is well`, async () =>
      JSON.stringify(await instance.readState()) === '{"status":"ok"}' ? true : undefined,
    )
    for (let good = 0; good < probes;) good = (await load.call(unlimited, instance)) === '200' ? good + 1 : 0
  }
}

/** Runs three processes of `keyrail serve` under load, while everything that can fail does, and checks limits, metering, responses, memory and descriptors. */
export const runServiceSoak = async (options: ServiceSoakOptions): Promise<ServiceSoakResult> => {
  const { servers, minutes, seed, previous, callsPerFault, checksFigures, onProgress = () => {} } = options
  const random = seededRandom(seed)
  const leftOfDay = dayMs - (Date.now() % dayMs)
  // Limits start again at midnight.
  if (leftOfDay < (minutes + 10) * 60_000) await wait(leftOfDay + 1_000)

  const received: Received = createReceived()
  const service = await startSoakService(servers, received)
  const stop = servers.onStop(service.close)
  try {
    const expected = Math.max(minutes * 60 * perSecond, soakFaults.length * callsPerFault * 2)
    const limits = limitedShares.map((share) => Math.round((share * expected) / (limitedShares.length + 1)))
    const users: { readonly id: string; readonly path: string }[] = []
    for (const [index, limit] of [...limits, null].entries())
      users.push(await service.createUser(`user-${index}@example.org`, limit))
    const load = createLoad(
      service.instances,
      users.map(({ path }) => path),
      seededRandom(seed + 1),
    )
    const problems: string[] = []
    /** Calls of each account that were at a killed instance: their counts may be lost. */
    const atRisk = users.map(() => 0)
    /** What limits may be exceeded by: calls at killed instances, if Redis loses its data later. */
    let atRiskBefore = users.map(() => 0)
    let disturbances = 0
    const figures: Record<string, number> = { faults: 0, kills: 0 }
    let unwrittenMs = 0
    const onKill: FaultContext['onKill'] = (instance, lagMs, since) => {
      for (const [account, calls] of load.countSince(instance, since).entries())
        atRisk[account] = (atRisk[account] ?? 0) + calls
      unwrittenMs = Math.max(unwrittenMs, lagMs)
      figures['kills'] = (figures['kills'] ?? 0) + 1
    }
    const onEmpty = (): void => {
      atRiskBefore = [...atRisk]
    }

    await recover(service, load)
    load.start({ clients, perSecond })
    const [longLived, ...replaceable] = service.instances as [SoakInstance, ...SoakInstance[]]
    const memory = createSoakMemory(longLived, clients)
    const endsAt = performance.now() + minutes * 60_000
    do {
      const round = soakFaults
        .map((fault) => ({ fault, place: random() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ fault }) => fault)
      for (const { name, allows, forfeits = false, run } of round) {
        const window: Window = { name, allows, from: performance.now() }
        load.windows.push(window)
        const instance = replaceable[Math.floor(random() * replaceable.length)] as SoakInstance
        await run({ service, load, instance, hold: () => holdFor(load, callsPerFault), onKill, onEmpty, previous })
        await recover(service, load)
        window.to = performance.now()
        figures['faults'] = (figures['faults'] ?? 0) + 1
        disturbances += forfeits ? 1 : 0
        await memory.sample()
        onProgress(
          `${name}: ${load.ended()} calls, ${load.problems.length} problems, ${((window.to - window.from) / 1_000).toFixed(1)} s`,
        )
        // Nothing is disturbed for as long, so that failures of it are not attributed to the next one.
        await holdFor(load, Math.ceil(callsPerFault / 4))
        if (performance.now() > endsAt && (figures['faults'] ?? 0) > soakFaults.length) break
      }
      // It pauses the instance, so requests that wait for Redis may time out.
      const pause: Window = { name: 'a full collection', allows: stores, from: performance.now() }
      load.windows.push(pause)
      await memory.collect()
      await recover(service, load)
      pause.to = performance.now()
    } while (performance.now() < endsAt)
    await load.stop()
    // Every limit is used up in the end, so that it can be compared with what was granted.
    await Promise.all(
      limits.map(async (_, account) => {
        while ((await load.call(account)) === '200');
      }),
    )
    await recover(service, load)
    await memory.sample()
    for (const instance of service.instances) await instance.stop()
    const { charged, metered } = await readCharged(service.databaseUrl)
    load.close()

    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
    const getCharged = (account: number): number => charged.get(`user:${users[account]?.id}`) ?? 0
    const over = limits.map((limit, account) => received.count(account) - limit - (atRiskBefore[account] ?? 0))
    const forfeited = limits.map((limit, account) => limit - received.count(account))
    const missing = users.map((_, account) => received.count(account) - getCharged(account) - (atRisk[account] ?? 0))
    const certain = sum(load.totals.map((total) => total.metered))
    return {
      problems: [...problems, ...load.problems, ...service.problems],
      outcomes: load.outcomes,
      figures: {
        ...figures,
        calls: load.ended(),
        'calls that nodes received': sum(users.map((_, account) => received.count(account))),
        'units over a limit': Math.max(0, ...limits.map((limit, account) => received.count(account) - limit)),
        'units forfeited': sum(forfeited.map((units) => Math.max(0, units))),
        'counts lost by kills': Math.max(0, certain - metered),
        'counts that kills may lose': sum(atRisk),
      },
      bars: [
        { name: 'units over the limit of an account', is: Math.max(...over), atMost: 0 },
        // Each loss of an instance or of Redis forfeits what was in flight.
        { name: 'units an account forfeited', is: Math.max(...forfeited), atMost: disturbances * clients },
        { name: 'units of an account that nodes received and the ledger lacks', is: Math.max(...missing), atMost: 0 },
        {
          name: 'calls in metering',
          is: metered,
          atLeast: certain - sum(atRisk),
          atMost: sum(load.totals.map(({ sent }) => sent)),
        },
        ...(checksFigures
          ? [{ name: 'ms of counts that a killed instance had not written', is: unwrittenMs, atMost: 1_000 }]
          : []),
        exactly('limits that are used up', load.totals.filter(({ usedUp }) => usedUp > 0).length, limits.length),
        ...memory.toBars(checksFigures),
      ],
    }
  } finally {
    await stop()
  }
}
