import type { ChildProcess } from 'node:child_process'

/** The members of the messages of `node:cluster` that matter here. */
interface ClusterMessage {
  readonly act?: string
  readonly seq?: number
  /** The `seq` of the message that is confirmed. */
  readonly ack?: number
}

/**
 * Closes the connections that the primary process has passed to a worker which ended before it accepted them. `node:cluster` would leave them open
 * in the primary, and their callers would wait forever.
 */
export const closeUnaccepted = (worker: ChildProcess): void => {
  const passed = new Map<number | undefined, { close(): void }>()
  const send = worker.send.bind(worker) as (...all: unknown[]) => boolean
  worker.send = (message: unknown, handle?: unknown, ...rest: unknown[]): boolean => {
    const { act, seq } = message as ClusterMessage
    if (act === 'newconn') passed.set(seq, handle as { close(): void })
    return send(message, handle, ...rest)
  }
  // Node emits it for the messages of `node:cluster`.
  worker.on('internalMessage' as 'message', (message) => passed.delete((message as ClusterMessage).ack))
  worker.once('close', () => {
    for (const connection of passed.values()) connection.close()
  })
}
