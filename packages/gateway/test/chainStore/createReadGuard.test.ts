import { expect, onTestFinished, test, vi } from 'vitest'
import { createReadGuard } from '../../src/storage/chainStore/createReadGuard.ts'

const start = () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const errors: unknown[] = []
  const read = createReadGuard({ patienceMs: 1_000, maxPending: 3, onError: (error) => errors.push(error) })
  return { read, errors }
}

test('a read waits for a stalled thread once, and the next ones do not until the thread has responded', async () => {
  const { read } = start()
  let respond = (): void => {}
  const stalled = read(() => new Promise<string>((resolve) => (respond = () => resolve('late'))), 400)
  await vi.advanceTimersByTimeAsync(399)
  const next = vi.fn<() => Promise<string>>(async () => 'found')
  expect(await read(next, undefined)).toBe('found')
  await vi.advanceTimersByTimeAsync(1)
  expect(await stalled).toBeUndefined()
  expect(await read(next, undefined)).toBeUndefined()
  expect(next).toHaveBeenCalledTimes(1)
  respond()
  await vi.advanceTimersByTimeAsync(0)
  expect(await read(next, undefined)).toBe('found')
})

test('a read waits no longer than the patience, and not at all if too many wait', async () => {
  const { read, errors } = start()
  const reads = Array.from({ length: 4 }, () => read(() => new Promise<string>(() => {}), 9_000))
  expect(await reads[3]).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await Promise.all(reads)).toEqual([undefined, undefined, undefined, undefined])
  const other = start()
  expect(await other.read(() => Promise.reject(new Error('broken')), undefined)).toBeUndefined()
  expect([errors.length, other.errors.length]).toEqual([0, 1])
})
