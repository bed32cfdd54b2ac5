import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { toUtcDay } from '../../lib/utcDay.ts'
import type { UtcDay } from '../../lib/utcDay.ts'
import { believedMs, getLeft, isLimited } from './quotaCounter.ts'
import {
  createReservation,
  getTarget,
  getUnwritten,
  returnReserved,
  abandonRow,
  setReserved,
  startDay,
  startWrite,
  grantReserved,
} from './reservation.ts'
import type { Reservation, ReservedRow } from './reservation.ts'
import type { Quota } from './usageLimits.ts'

/** 2026-11-29: a month ends after the second day. */
const firstDay = 20_786

/** A row that a process requests from the database. */
interface Write {
  readonly run: string
  readonly day: UtcDay
  readonly atLeast: number
  readonly target: number
  readonly quota: Quota
}

interface Process {
  state: Reservation
  run: string
  /** Sent, and neither completed nor failed. */
  write: Write | undefined
  /** Rows of days that ended, which are written after `write`. */
  ended: (Write & { readonly reserved: number })[]
  grants: { readonly day: number; units: number }[]
}

/** A row that nobody writes any more, except writes that are late. */
interface AbandonedRow {
  readonly run: string
  readonly day: UtcDay
  /** The units of grants that only this row counts. What it has beyond them is forfeited. */
  readonly units: number
}

/** The table `account_days` for one quota, as the SQL of `accountDays.ts` writes it. */
const createTable = () => {
  const rows = new Map<string, { readonly run: string; readonly day: UtcDay; charged: number }>()
  const add = (isIncluded: (row: { run: string; day: UtcDay }) => boolean): number =>
    [...rows.values()].reduce((total, row) => total + (isIncluded(row) ? row.charged : 0), 0)
  return {
    sumDay: (day: UtcDay): number => add((row) => row.day.day === day.day),
    get: (run: string, day: UtcDay): number => rows.get(`${day.day} ${run}`)?.charged ?? 0,
    reserve: ({ run, day, atLeast, target, quota }: Write): ReservedRow => {
      const otherDay = add((row) => row.day.day === day.day && row.run !== run)
      const otherMonth = add(
        (row) => row.day.month === day.month && row.day.day <= day.day && !(row.day.day === day.day && row.run === run),
      )
      const most = Math.min((quota.perDay ?? Infinity) - otherDay, (quota.perMonth ?? Infinity) - otherMonth)
      const charged = Math.max(atLeast, Math.min(target, most))
      rows.set(`${day.day} ${run}`, { run, day, charged })
      return { charged, otherDay, otherMonth }
    },
  }
}

/** Whether the limits are half of what they are otherwise. */
const isLowered = fc.boolean()

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant('take' as const), calls: fc.constantFrom(1, 10, 25, 40), isLowered }),
  },
  { weight: 8, arbitrary: fc.record({ op: fc.constant('write' as const), isIdle: fc.boolean(), isLowered }) },
  { weight: 8, arbitrary: fc.record({ op: fc.constant('complete' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('serve' as const), calls: fc.constantFrom(1, 25, 40), isLowered }),
  },
  // The database runs it now, or later, or never.
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('fail' as const), runs: fc.constantFrom('now', 'later', 'never') }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('runLate' as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('giveBack' as const), units: fc.constantFrom(1, 10, 25) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('nextDay' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('drop' as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 1_000) }) },
)
const steps = fc.array(fc.tuple(fc.nat(2), step), { maxLength: 80, size: 'max' })
const limit = fc.constantFrom(null, 25, 50, 60, 100)

const halve = (units: number | null): number | null => units && Math.floor(units / 2)

/** @param isExact - Whether the only process knows all that was used. */
const setUp = (quota: Quota, count: number, isExact: boolean) => {
  const table = createTable()
  const used = new Map<number, { readonly day: UtcDay; units: number }>()
  const late: Write[] = []
  const abandoned: AbandonedRow[] = []
  let day = toUtcDay(firstDay)
  let now = 0
  let runs = 0
  const start = (): Process => ({
    state: createReservation(day),
    run: `run_${(runs += 1)}`,
    write: undefined,
    ended: [],
    grants: [],
  })
  const processes = Array.from({ length: count }, start)
  const getUsed = (): { day: number; month: number } => ({
    day: used.get(day.day)?.units ?? 0,
    month: [...used.values()].reduce((sum, each) => sum + (each.day.month === day.month ? each.units : 0), 0),
  })
  const addUsed = (units: number): void => {
    used.set(day.day, { day, units: (used.get(day.day)?.units ?? 0) + units })
  }
  const turnDay = (one: Process): void => {
    const ended = startDay(one.state, day)
    if (ended !== undefined) one.ended.push({ run: one.run, ...ended, atLeast: ended.used, target: ended.used, quota })
  }
  /** Its row counts the units that it certainly has. */
  const abandon = ({ run }: Process, { counter, used: usedToday, reserved }: Reservation): void =>
    void abandoned.push({ run, day: counter.day, units: Math.min(usedToday, reserved) })
  const complete = (one: Process): void => {
    const { write } = one
    if (write === undefined) return
    const row = table.reserve(write)
    one.write = undefined
    if (one.ended[0] === write) one.ended.shift()
    else setReserved(one.state, write.day, row, now)
  }
  const write = (one: Process, isIdle: boolean, of = quota, waiting = 0): void => {
    turnDay(one)
    if (one.write !== undefined) return
    const target = isIdle ? one.state.used : getTarget(one.state, of, waiting)
    one.write = one.ended[0] ?? {
      run: one.run,
      day: one.state.counter.day,
      atLeast: startWrite(one.state, target),
      target,
      quota: of,
    }
  }
  const take = (one: Process, calls: number, of: Quota): boolean => {
    turnDay(one)
    const { readAt } = one.state
    const taken = grantReserved(one.state, of, { calls, now })
    if (taken === 'wait') return false
    // Others may have returned units since.
    if (taken.granted < calls) expect(now - readAt).toBeLessThan(believedMs)
    const { day: usedToday, month } = getUsed()
    const left = Math.max(0, Math.min((of.perDay ?? Infinity) - usedToday, (of.perMonth ?? Infinity) - month))
    if (isExact) expect(taken.granted).toBe(Math.min(calls, left))
    addUsed(taken.charged)
    one.grants.push({ day: day.day, units: taken.charged })
    return true
  }
  return {
    table,
    late,
    processes,
    getUsed,
    days: () => [...used.values()],
    /** The units of abandoned rows of a day that were not granted. */
    getForfeited: (of: UtcDay): number =>
      abandoned.reduce((sum, { run, day: each, units }) => {
        if (each.day !== of.day) return sum
        const charged = table.get(run, each)
        expect(charged).toBeGreaterThanOrEqual(units)
        return sum + charged - units
      }, 0),
    nextDay: () => (day = toUtcDay(day.day + 1)),
    wait: (ms: number) => (now += ms),
    write,
    complete,
    take,
    /** Grants calls, which wait for a write if they must. The next write reserves what the next 25 calls need, and nothing without a limit. */
    serve: (one: Process, calls: number, of: Quota): void => {
      complete(one)
      for (turnDay(one); one.ended.length > 0; complete(one)) write(one, false, of)
      if (!take(one, calls, of)) {
        write(one, false, of, calls)
        complete(one)
        expect(take(one, calls, of)).toBe(true)
      }
      write(one, false, of)
      complete(one)
      const { reserved, used: usedToday, counter } = one.state
      if (isLimited(of)) expect(reserved - usedToday).toBeGreaterThanOrEqual(Math.min(25, getLeft(counter, of)))
      else expect(reserved).toBe(usedToday)
    },
    giveBack: (one: Process, wanted: number): void => {
      turnDay(one)
      const grant = one.grants.pop()
      if (grant?.day !== day.day) return
      const units = Math.min(wanted, grant.units)
      returnReserved(one.state, units)
      addUsed(-units)
    },
    fail: (one: Process, runsWrite: string): void => {
      const failed = one.write
      if (failed === undefined) return
      if (runsWrite === 'now') table.reserve(failed)
      if (runsWrite === 'later') late.push(failed)
      one.write = undefined
      if (failed === one.ended[0]) return
      abandon(one, one.state)
      abandonRow(one.state)
      one.ended = one.ended.map((past) => {
        if (past.run !== failed.run || past.day.day !== failed.day.day) return past
        abandoned.push({ ...past, units: Math.min(past.target, past.reserved) })
        const used = getUnwritten({ used: past.target, reserved: past.reserved })
        return { ...past, run: `run_${(runs += 1)}`, atLeast: used, target: used, reserved: 0 }
      })
      one.run = `run_${(runs += 1)}`
    },
    kill: (index: number): void => {
      const killed = processes[index]
      if (killed === undefined) return
      if (killed.write !== undefined) late.push(killed.write)
      for (const past of killed.ended) abandoned.push({ ...past, units: past.target })
      abandoned.push({ run: killed.run, day: killed.state.counter.day, units: killed.state.used })
      processes[index] = start()
    },
    /** Drops the state of a quota that is idle, and creates it again from what is remembered of it. */
    drop: (one: Process): void => {
      turnDay(one)
      const { used: usedToday, reserved, isWriting } = one.state
      if (usedToday === reserved && !isWriting) one.state = createReservation(day, usedToday)
    },
    writeAll: (): void => {
      for (const one of processes) {
        complete(one)
        do {
          write(one, true)
          complete(one)
        } while (one.ended.length > 0)
        write(one, true)
        complete(one)
      }
    },
  }
}

test('never grants more than the highest limits, despite delays, failures, returns and kills, and the rows have exactly the granted and the forfeited units', () => {
  fc.assert(
    fc.property(
      fc.record({ count: fc.integer({ min: 1, max: 3 }), perDay: limit, perMonth: limit, hasFaults: fc.boolean() }),
      steps,
      ({ count, perDay, perMonth, hasFaults }, all) => {
        const quota = { id: 'user:usr_1', perDay, perMonth }
        const lowered = { ...quota, perDay: halve(perDay), perMonth: halve(perMonth) }
        const model = setUp(quota, count, count === 1 && !hasFaults)
        for (const [at, one] of all) {
          const index = at % count
          const process = model.processes[index]
          if (process === undefined) continue
          if (one.op === 'take') model.take(process, one.calls, one.isLowered ? lowered : quota)
          else if (one.op === 'write') model.write(process, one.isIdle, one.isLowered ? lowered : quota)
          else if (one.op === 'complete') model.complete(process)
          else if (one.op === 'serve') model.serve(process, one.calls, one.isLowered ? lowered : quota)
          else if (one.op === 'giveBack') model.giveBack(process, one.units)
          else if (one.op === 'nextDay') model.nextDay()
          else if (one.op === 'drop') model.drop(process)
          else if (one.op === 'wait') model.wait(one.ms)
          else if (one.op === 'runLate') {
            const write = model.late.shift()
            if (write !== undefined) model.table.reserve(write)
          } else if (hasFaults) {
            if (one.op === 'fail') model.fail(process, one.runs)
            // Without a limit, nothing is written before it is granted.
            else if (perDay !== null || perMonth !== null) model.kill(index)
          }
          const { day, month } = model.getUsed()
          expect(day).toBeLessThanOrEqual(perDay ?? Infinity)
          expect(month).toBeLessThanOrEqual(perMonth ?? Infinity)
        }
        model.writeAll()
        // Units that a killed process had reserved, or that are left over in an abandoned row, are forfeited.
        for (const { day, units } of model.days()) expect(model.table.sumDay(day) - model.getForfeited(day)).toBe(units)
      },
    ),
    {
      numRuns: fuzzCases(2_000),
      // A write that is sent before midnight, and runs after the last one of its day.
      examples: [
        [
          { count: 1, perDay: null, perMonth: null, hasFaults: true },
          [
            [0, { op: 'write', isIdle: false, isLowered: false }],
            [0, { op: 'take', calls: 1, isLowered: false }],
            [0, { op: 'nextDay' }],
            [0, { op: 'write', isIdle: false, isLowered: false }],
            [0, { op: 'fail', runs: 'later' }],
            [0, { op: 'write', isIdle: false, isLowered: false }],
            [0, { op: 'complete' }],
            [0, { op: 'runLate' }],
          ],
        ],
      ],
    },
  )
})

test('while the database is lost, grants at most what is reserved and the outageGrant units, however often a write fails', () => {
  const lost = fc.oneof(
    fc.record({ op: fc.constant('take' as const), calls: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ op: fc.constant('fail' as const) }),
    fc.record({ op: fc.constant('giveBack' as const), units: fc.integer({ min: 1, max: 20 }) }),
  )
  fc.assert(
    fc.property(fc.array(lost, { maxLength: 40 }), fc.nat(30), fc.nat(200), (all, reserved, otherDay) => {
      const day = toUtcDay(firstDay)
      const quota = { id: 'user:usr_1', perDay: 200, perMonth: null }
      const state = createReservation(day)
      const row = Math.min(reserved, 200 - otherDay)
      setReserved(state, day, { charged: row, otherDay, otherMonth: otherDay }, 0)
      let granted = 0
      for (const one of all) {
        if (one.op === 'take') {
          const taken = grantReserved(state, quota, { calls: one.calls, now: 0, outageGrant: 50 })
          if (taken !== 'wait') granted += taken.charged
        } else if (one.op === 'fail') {
          startWrite(state, getTarget(state, quota, 5))
          abandonRow(state)
        } else {
          const units = Math.min(one.units, granted)
          returnReserved(state, units)
          granted -= units
        }
        expect(granted).toBeLessThanOrEqual(Math.min(row + 50, 200 - otherDay))
      }
    }),
    { numRuns: fuzzCases(1_000) },
  )
})
