import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A real node, started for a test. */
export interface Anvil {
  readonly url: string
  readonly stop: () => Promise<void>
}

const binary = (): string => {
  const require = createRequire(import.meta.url)
  const inner = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  return join(dirname(inner.resolve(`@foundry-rs/anvil-${process.platform}-${machine}/package.json`)), 'bin', 'anvil')
}

/** Starts anvil on a free port. The binary itself, not its wrapper, so that stopping it leaves no process behind. */
export const startAnvil = (chainId: number): Promise<Anvil> =>
  new Promise((resolve, reject) => {
    const child = spawn(binary(), ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise<void>((done) => child.once('exit', () => done()))
    child.once('error', reject)
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const host = /Listening on (127\.0\.0\.1:\d+)/.exec(text)?.[1]
      if (host === undefined) return
      resolve({
        url: `http://${host}`,
        stop: async () => {
          child.kill('SIGTERM')
          await exited
        },
      })
    })
  })
