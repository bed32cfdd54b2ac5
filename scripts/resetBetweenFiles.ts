import { afterAll, vi } from 'vitest'

// Test files share a process, so that Node, Vitest and the packages load once. Each file takes back what it replaced.
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})
