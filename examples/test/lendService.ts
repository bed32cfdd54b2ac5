import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevDescription } from '../../packages/cli/src/dev/devDescription.ts'
import { startDevCli } from '../../packages/cli/test/runCli.ts'
import { sharedResource } from '@keyrail/core/test/sharedResource.ts'

const examples = join(import.meta.dirname, '..')

/** Copies an example beside the environment file of the test service, because its program looks for it in the parent folder. */
function copyExamples(to: string): void {
  for (const name of ['balances', 'endpoint.ts'])
    cpSync(join(examples, name), join(to, name), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
  symlinkSync(join(examples, 'balances/node_modules'), join(to, 'balances/node_modules'))
}

/** One service for all tests of the examples, started like with `npm start`. */
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
  /** The folder of a copy of `balances`, whose program finds this service. */
  readonly copies: string
}

export const borrowService = async (): Promise<Borrowed> => JSON.parse(await shared.borrow()) as Borrowed
