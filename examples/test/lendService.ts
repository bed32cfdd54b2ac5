import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevDescription } from '../../packages/cli/src/dev/devService.ts'
import { startDevCli } from '../../packages/cli/test/runCli.ts'
import { sharedResource } from '@keyrail/core/test/sharedResource.ts'
import { latestBlockExamples } from './latestBlockExamples.ts'

const examples = join(import.meta.dirname, '..')

/** Copies the examples that find their service by where they lie, to lie beside one of ours. */
function copyExamples(to: string): void {
  for (const name of [...latestBlockExamples, 'address.ts'])
    cpSync(join(examples, name), join(to, name), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
  for (const name of latestBlockExamples)
    symlinkSync(join(examples, name, 'node_modules'), join(to, name, 'node_modules'))
}

/** One service for all tests of the examples, started as `npm start` does. */
const shared = sharedResource('EXAMPLES_SERVICE', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
  const copies = join(folder, 'examples')
  copyExamples(copies)
  const { service, child, done } = await startDevCli(['--env', join(folder, '.keyrail/local.env')])
  return {
    lend: () => JSON.stringify({ service, copies }),
    stop: async () => {
      child.kill('SIGTERM')
      await done
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

export const setup = shared.setup

/** The service that all examples call. */
export interface Borrowed {
  readonly service: DevDescription
  /** The latest-block examples, copied to where they find this service as they find the one of `npm start`. */
  readonly copies: string
}

export const borrowService = async (): Promise<Borrowed> => JSON.parse(await shared.borrow()) as Borrowed
