import type { TestProject } from 'vitest/node'
import { startDevCli } from '../../packages/cli/test/runCli.ts'
import type { DevDescription } from '../../packages/cli/src/dev/devService.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The service that all examples call. */
    readonly service: DevDescription
  }
}

/** Starts one service for all tests of the examples, as `npm start` does. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { service, child, done } = await startDevCli()
  provide('service', service)
  return async () => {
    child.kill('SIGTERM')
    await done
  }
}
