import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startDevCli } from '../../packages/cli/test/runCli.ts'
import type { RunningDev } from '../../packages/cli/test/runCli.ts'
import { latestBlockExamples } from './latestBlockExamples.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for the service that all examples call. */
    readonly serviceLender: string
  }
}

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

/** Lends one service to all tests of the examples, started as `npm start` does when the first one asks. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
  let started: Promise<RunningDev> | undefined
  const start = (): Promise<RunningDev> => {
    copyExamples(join(room, 'examples'))
    return startDevCli(['--env', join(room, '.keyrail/local.env')])
  }
  const lender = createServer((_request, response) => {
    started ??= start()
    started.then(
      ({ service }) => response.end(JSON.stringify({ service, copies: join(room, 'examples') })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(lender, 'listening')
  provide('serviceLender', `http://127.0.0.1:${(lender.address() as AddressInfo).port}`)
  return async () => {
    lender.close()
    lender.closeAllConnections()
    const running = await started?.catch(() => undefined)
    running?.child.kill('SIGTERM')
    await running?.done
    rmSync(room, { recursive: true, force: true })
  }
}
