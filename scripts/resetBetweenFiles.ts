import { setMaxListeners } from 'node:events'
import { afterAll, vi } from 'vitest'

// Test files share a process, so that Node and libraries load once. After each file, this restores replaced globals and resets modules,
// because some modules have state, such as core's clock.
vi.useFakeTimers = () => {
  throw new Error(
    'This test file shares its process with others, so it cannot install fake timers. Name the function that installs them in `fakeTimers` in scripts/testProjects.ts: files that call it run in their own process.',
  )
}

afterAll(() => {
  // Also undoes vi.setSystemTime.
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.resetModules()
})

// The process has one channel of msw. Each file's mock nodes add listeners to it, because their modules are reset: that is not a leak.
if (BroadcastChannel.name !== 'SharedChannel')
  globalThis.BroadcastChannel = class SharedChannel extends BroadcastChannel {
    constructor(name: string) {
      super(name)
      setMaxListeners(0, this)
    }
  }
