import type { Redis } from 'ioredis'

/**
 * Creates a function that holds back what is sent to a connection until the end of this turn of the event loop, and then writes it at once: a
 * write to a socket costs more CPU than a command. (Pipelines of ioredis, automatic ones too, cost as much as they save.)
 */
export const createCork = (): ((client: Redis) => void) => {
  const corked = new Set<Redis['stream']>()
  const uncork = (): void => {
    for (const stream of corked) stream.uncork()
    corked.clear()
  }
  return ({ stream }) => {
    if (corked.has(stream)) return
    if (corked.size === 0) setImmediate(uncork)
    stream.cork()
    corked.add(stream)
  }
}
