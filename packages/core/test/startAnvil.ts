import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A real node that a test runs against. */
export interface Anvil {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Finds the binary. The script of the package would start an additional Node process. */
const findBinary = (): string => {
  const anvil = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
  const platform = anvil.resolve(
    `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/package.json`,
  )
  return join(platform, '../bin/anvil')
}

/** Starts an anvil on a free port. Its ten accounts are funded and unlocked. */
export async function startAnvil(...args: string[]): Promise<Anvil> {
  const child = spawn(findBinary(), ['--host', '127.0.0.1', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // stderr is piped, not inherited: if this process is killed, an inherited stream stays open, and the test runner waits for it.
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
