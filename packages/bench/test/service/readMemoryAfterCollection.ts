import { once } from 'node:events'

/** Collects the garbage of a process that runs with `--inspect`, and reads the memory that it still uses. @param port - The port of its inspector. */
export const readMemoryAfterCollection = async (port: number): Promise<NodeJS.MemoryUsage> => {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly {
    readonly webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  try {
    let id = 0
    const send = async (method: string, params: object = {}): Promise<unknown> => {
      const response = once(socket, 'message') as Promise<[MessageEvent]>
      socket.send(JSON.stringify({ id: (id += 1), method, params }))
      const [{ data }] = await response
      return (JSON.parse(String(data)) as { readonly result: unknown }).result
    }
    await send('HeapProfiler.collectGarbage')
    const { result } = (await send('Runtime.evaluate', {
      expression: 'process.memoryUsage()',
      returnByValue: true,
    })) as {
      readonly result: { readonly value: NodeJS.MemoryUsage }
    }
    return result.value
  } finally {
    socket.close()
  }
}
