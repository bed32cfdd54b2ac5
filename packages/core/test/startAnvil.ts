import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A real node that a test runs against. */
export interface Anvil {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** The binary itself: the package's own script would put a second Node process in between. */
const binary = (): string => {
  const anvil = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
  const platform = anvil.resolve(
    `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/package.json`,
  )
  return join(platform, '../bin/anvil')
}

/** Starts an anvil on a port of its own. Its ten accounts are rich and unlocked. */
export async function startAnvil(...args: string[]): Promise<Anvil> {
  const child = spawn(binary(), ['--host', '127.0.0.1', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Not inherited: where whoever started it is killed, it would keep open what the runner of the tests waits for.
  child.stderr.pipe(process.stderr)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil ended with code ${code}: ${printed}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(printed)?.[1]
      if (address) resolve(`http://${address}`)
    })
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
