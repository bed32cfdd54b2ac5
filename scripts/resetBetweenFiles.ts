import { afterAll, vi } from 'vitest'

// Test files share a process, so that Node and libraries load once. Each file takes back what it replaced, and the next one gets modules of
// its own: core's clock, for example, keeps its state in one.
vi.useFakeTimers = () => {
  throw new Error(
    'This test file shares its process with others, so it cannot install fake timers. Name the function that installs them in `fakeTimers` in scripts/testProjects.ts: files that call it have processes of their own.',
  )
}

afterAll(() => {
  // Also undoes vi.setSystemTime.
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.resetModules()
})
