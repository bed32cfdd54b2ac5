import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A real node, started for a test. */
export interface Anvil {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** The binary itself: the package's own script would put a second Node process in between. */
const binary = (): string => {
  const anvil = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  return join(anvil.resolve(`@foundry-rs/anvil-${process.platform}-${machine}/package.json`), '../bin/anvil')
}

/** Starts an anvil on a port of its own, that mines each transaction as it comes. */
export async function startAnvil(chainId: number): Promise<Anvil> {
  const child = spawn(binary(), ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
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
