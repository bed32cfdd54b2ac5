import type * as PromClient from 'prom-client'
import type { MeterStatus } from '../usage/metering/meter.ts'

/**
 * Registers the metrics of metering, which are read at each scrape.
 * @param options.prometheus - The library, which is imported lazily.
 */
export const registerMetering = (
  read: () => MeterStatus,
  { prometheus: { Counter, Gauge }, registers }: { prometheus: typeof PromClient; registers: PromClient.Registry[] },
): void => {
  const registerGauge = (name: string, help: string, value: (status: MeterStatus) => number): void => {
    const gauge: PromClient.Gauge = new Gauge({
      name,
      help,
      registers,
      collect: () => gauge.set(value(read())),
    })
  }
  const registerCounter = (name: string, help: string, value: (status: MeterStatus) => number): void => {
    const counter = new Counter({
      name,
      help,
      registers,
      collect: () => {
        counter.reset()
        counter.inc(value(read()))
      },
    })
  }
  registerGauge(
    'keyrail_metering_lag_seconds',
    'Age of the oldest count that is not written to the database.',
    ({ lagMs }) => lagMs / 1_000,
  )
  registerGauge(
    'keyrail_metering_backlog_rows',
    'Rows, one per key and minute, with counts that are not written to the database.',
    ({ backlogRows }) => backlogRows,
  )
  registerGauge(
    'keyrail_metering_rollup_lag_seconds',
    'How long ago the oldest hour ended that is not rolled up.',
    ({ rollUpLagMs }) => rollUpLagMs / 1_000,
  )
  registerCounter(
    'keyrail_metering_lost_calls_total',
    'Calls whose counts were dropped because the database was unavailable for too long.',
    ({ lostCalls }) => lostCalls,
  )
  registerCounter(
    'keyrail_metering_skipped_rows_total',
    'Stored rows that a roll-up skipped because they could not be parsed.',
    ({ skippedRows }) => skippedRows,
  )
  const failures = new Counter({
    name: 'keyrail_metering_failures_total',
    help: 'Failed writes and roll-ups, which are retried.',
    labelNames: ['work'],
    registers,
    collect: () => {
      failures.reset()
      for (const [work, count] of Object.entries(read().failures)) failures.inc({ work }, count)
    },
  })
}
