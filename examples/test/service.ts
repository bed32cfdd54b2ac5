import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startDevCli } from '../../packages/cli/test/runCli.ts'
import type { DevDescription } from '../../packages/cli/src/dev/devService.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The service that all examples call. */
    readonly service: DevDescription
    /** A folder that is to this service what the top of the workspace is to the one of `npm start`: the latest-block examples in a copy. */
    readonly room: string
  }
}

const examples = join(import.meta.dirname, '..')

/** The examples that find the service by themselves. */
export const latestBlockExamples = ['ethers', 'fetch', 'viem', 'web3'].map((library) => `latest-block-${library}`)

/** Starts one service for all tests of the examples, as `npm start` does. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
  for (const name of [...latestBlockExamples, 'address.ts']) {
    cpSync(join(examples, name), join(room, 'examples', name), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
  }
  for (const name of latestBlockExamples)
    symlinkSync(join(examples, name, 'node_modules'), join(room, 'examples', name, 'node_modules'))
  const { service, child, done } = await startDevCli(['--env', join(room, '.keyrail/local.env')])
  provide('service', service)
  provide('room', room)
  return async () => {
    child.kill('SIGTERM')
    await done
    rmSync(room, { recursive: true, force: true })
  }
}
