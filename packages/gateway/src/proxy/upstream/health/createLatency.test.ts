import { expect, test } from 'vitest'
import { createLatency } from './createLatency.ts'

test('the average follows the latencies', () => {
  const latency = createLatency()
  expect(latency.average()).toBeUndefined()
  latency.add(10)
  expect(latency.average()).toBe(10)
  latency.addProbe(20)
  expect(latency.average()).toBe(11)
  for (let call = 0; call < 100; call += 1) latency.add(50)
  expect(latency.average()).toBeCloseTo(50, 1)
})

test('is high at twice what is usual, until that is usual', () => {
  const latency = createLatency()
  for (let call = 0; call < 50; call += 1) latency.add(20)
  expect(latency.isHigh()).toBe(false)
  for (let call = 0; call < 20; call += 1) latency.add(50)
  expect(latency.isHigh()).toBe(true)
  for (let call = 0; call < 50; call += 1) latency.addProbe(20)
  expect(latency.isHigh()).toBe(false)
  for (let call = 0; call < 1_000; call += 1) latency.add(50)
  expect(latency.isHigh()).toBe(false)
})

test('the 95th percentile is that of the last 128 calls, without probes', () => {
  const latency = createLatency()
  for (let ms = 1; ms < 128; ms += 1) latency.add(ms)
  latency.addProbe(1_000)
  expect(latency.p95()).toBeUndefined()
  latency.add(128)
  expect(latency.p95()).toBe(122)
  for (let call = 0; call < 128; call += 1) latency.add(5)
  expect(latency.p95()).toBe(5)
})
