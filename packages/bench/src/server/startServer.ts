import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts the server in a separate process. */
export async function startServer(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const child = fork(new URL('server.ts', import.meta.url))
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}/`, stop: () => child.kill() }
}
