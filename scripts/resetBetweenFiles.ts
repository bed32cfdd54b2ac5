import { afterAll, vi } from 'vitest'

// Test files share a process, so that Node and libraries load once. Each file takes back what it replaced, and the next one gets modules of
// its own: core's clock, for example, keeps its state in one.
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.resetModules()
})
