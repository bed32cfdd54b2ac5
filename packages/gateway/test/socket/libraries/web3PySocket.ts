import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LibraryClient, OpenLibrarySocket, SocketEvent } from './librarySocket.ts'

type Line =
  | SocketEvent
  | { readonly kind: 'ready'; readonly number: number }
  | { readonly kind: 'closed' | 'error'; readonly text: string }

/** `WebSocketProvider` of web3.py, with the loop over connections that its documentation shows. @param python - The interpreter. */
export const openWeb3Py =
  (python: string): OpenLibrarySocket =>
  (url) => {
    const child = spawn(python, [join(import.meta.dirname, 'web3PySocket.py'), url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const events: SocketEvent[] = []
    const errors: string[] = []
    const exited = once(child, 'exit')
    return new Promise<LibraryClient>((resolve, reject) => {
      void exited.then(() => reject(new Error(`Python exited early: ${errors.join(', ')}`)))
      createInterface(child.stdout).on('line', (text) => {
        const line = JSON.parse(text) as Line
        if ('text' in line) errors.push(line.text)
        else if (line.kind !== 'ready') events.push(line)
        else {
          const close = async (): Promise<void> => {
            child.stdin.end()
            child.kill()
            await exited
          }
          resolve({ blockNumber: line.number, events, errors, close })
        }
      })
    })
  }
