import { afterEach, expect, test, vi } from 'vitest'
import { createSharedTimer } from './createSharedTimer.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('a timer that must not keep the process alive works where timers are numbers, as in Jest with jsdom', async () => {
  const { setTimeout } = globalThis
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => {
    setTimeout(run, ms)
    return 7
  })
  await expect(new Promise<void>((resolve) => createSharedTimer(resolve, true).set(1))).resolves.toBeUndefined()
})
